//! Structs as record types.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DataStruct, DeriveInput, Error, Field, Fields, Ident};

use crate::attributes::Attributes;

const OF_STRUCTS: &[&str] = &["name", "description", "crate"];
const OF_FIELDS: &[&str] = &["name", "description", "unit", "default", "sized_by", "indexes"];

pub(crate) fn expand(input: &DeriveInput, data: &DataStruct) -> syn::Result<TokenStream> {
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(&input.ident, "a record has fields with names"));
    };
    let attributes = Attributes::read(&input.attrs, OF_STRUCTS)?;
    let (home, ident, name) = (attributes.home(), &input.ident, attributes.name_or(&input.ident));
    let description = attributes.description.iter();
    let types: Vec<_> =
        fields.named.iter().map(|field| field_type(field, &home)).collect::<syn::Result<_>>()?;
    let idents: Vec<_> = fields.named.iter().filter_map(|field| field.ident.as_ref()).collect();
    let rust: Vec<_> = fields.named.iter().map(|field| &field.ty).collect();
    let bounds = bounds(&home, &rust);
    let (kept, codec) = (kept_schema(&home), codec(&home, &idents));
    let (memory, straight) = (memory(&home, &idents, &rust), straight(&home, &idents, &rust));
    Ok(quote! {
        #[allow(trivial_bounds)]
        impl #home::record::Record for #ident #bounds {
            fn record_type() -> #home::record::RecordType {
                #home::record::RecordType::new(#name) #(.with_description(#description))* #(.field(#types))*
            }
            #kept
            #codec
            #memory
            #straight
        }
    })
}

/// That each field's type is one of a record: where one is not, the compiler says so once, and not at each use.
fn bounds(home: &TokenStream, rust: &[&syn::Type]) -> TokenStream {
    let bounds = rust.iter().map(|rust| {
        let at = Span::call_site().located_at(rust.span());
        quote_spanned! { at => #rust: #home::record::FieldValue, }
    });
    quote! { where #(#bounds)* }
}

/// The schema, made once.
fn kept_schema(home: &TokenStream) -> TokenStream {
    let result = quote! {
        ::core::result::Result<#home::record::RecordSchema, #home::record::RecordError>
    };
    quote! {
        fn schema() -> #result {
            static SCHEMA: ::std::sync::OnceLock<#result> = ::std::sync::OnceLock::new();
            SCHEMA.get_or_init(|| <Self as #home::record::Record>::record_type().build()).clone()
        }
    }
}

/// Whether values lie in memory as their records do.
fn memory(home: &TokenStream, idents: &[&Ident], rust: &[&syn::Type]) -> TokenStream {
    quote! {
        fn lies_as_record() -> bool {
            let offsets = [#(::core::mem::offset_of!(Self, #idents)),*];
            let fields = true #(&& <#rust as #home::record::FieldValue>::lies_as_field())*;
            fields
                && <Self as #home::record::Record>::schema()
                    .is_ok_and(|schema| schema.lies_at(&offsets, ::core::mem::size_of::<Self>()))
        }
    }
}

/// Reading from places that are the same in all records. The names that it needs are not those of any field.
fn straight(home: &TokenStream, idents: &[&Ident], rust: &[&syn::Type]) -> TokenStream {
    let own = |name: &str| Ident::new(name, Span::mixed_site());
    let (record, is_sound) = (own("record"), own("is_sound"));
    let indices: Vec<_> = (0..idents.len()).collect();
    let readers: Vec<_> = indices.iter().map(|index| own(&format!("read_{index}"))).collect();
    let fields = quote! { <Self as #home::record::Record>::PLAIN_FIELDS };
    quote! {
        const PLAIN_FIELDS: &'static [::core::option::Option<#home::record::PlainForm>] =
            &[#(<#rust as #home::record::FieldValue>::PLAIN_FIELD),*];

        #[inline(always)]
        fn plain_record() -> ::core::option::Option<impl ::core::ops::Fn(&[u8], &mut bool) -> Self> {
            #(let #readers = <#rust as #home::record::FieldValue>::plain_field()?;)*
            if !<Self as #home::record::Record>::schema().ok()?.lies_as(#fields) {
                return ::core::option::Option::None;
            }
            ::core::option::Option::Some(move |#record: &[u8], #is_sound: &mut bool| Self {
                #(#idents: #readers(
                    #home::record::plain_bytes(
                        #record,
                        const { #home::record::PlainForm::offset(#fields, #indices) },
                    ),
                    #is_sound,
                )),*
            })
        }
    }
}

/// Writing and reading, field by field.
fn codec(home: &TokenStream, idents: &[&Ident]) -> TokenStream {
    let indices: Vec<_> = (0..idents.len()).collect();
    quote! {
        fn put_fields(
            &self,
            to: &mut #home::record::RecordTarget<'_>,
        ) -> ::core::result::Result<(), #home::record::EncodeError> {
            #(to.put(#indices, &self.#idents)?;)*
            ::core::result::Result::Ok(())
        }

        fn take_fields(
            from: &#home::record::RecordRef<'_>,
        ) -> ::core::result::Result<Self, #home::record::RecordReadError> {
            ::core::result::Result::Ok(Self { #(#idents: from.take(#indices)?),* })
        }
    }
}

/// The expression that makes the field's type.
fn field_type(field: &Field, home: &TokenStream) -> syn::Result<TokenStream> {
    let attributes = Attributes::read(&field.attrs, OF_FIELDS)?;
    let ident = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "a field without a name"))?;
    let (name, rust) = (attributes.name_or(ident), &field.ty);
    let (unit, description) = (attributes.unit.iter(), attributes.description.iter());
    let (default, indexes) = (attributes.default.iter(), attributes.indexes.iter());
    let sized_by = attributes.sized_by.iter();
    Ok(quote_spanned! { field.ty.span() =>
        <#rust as #home::record::FieldValue>::field(#name)
            #(.sized_by(#sized_by))* #(.with_unit(#unit))* #(.with_description(#description))*
            #(.with_default(#default))* #(.indexing(#indexes))*
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a bound of the implementation fails, the compiler says that alone; inside it holds.
    #[test]
    fn each_type_of_a_field_is_a_bound_of_its_own() {
        let input: DeriveInput = syn::parse_quote! {
            struct Cell { id: u64, lock: std::sync::Mutex<u8> }
        };
        let syn::Data::Struct(data) = &input.data else { panic!("it is a struct") };
        let written = expand(&input, data).expect("it expands");
        let written: syn::ItemImpl = syn::parse2(written).expect("an implementation");
        let bounds = written.generics.where_clause.expect("bounds").predicates;
        let bounds: Vec<String> = bounds.iter().map(|bound| quote!(#bound).to_string()).collect();
        assert_eq!(
            bounds,
            [
                "u64 : :: flexpath :: record :: FieldValue",
                "std :: sync :: Mutex < u8 > : :: flexpath :: record :: FieldValue"
            ]
        );
    }
}
