//! Enumerations without data as element types of names.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, DataEnum, DeriveInput, Error, Fields, Ident, Variant};

use crate::attributes::Attributes;

const OF_ENUMERATIONS: &[&str] = &["name", "dtype", "crate"];
const OF_VARIANTS: &[&str] = &["name"];
/// The integer types, and what the element types are called.
const INTEGERS: &[(&str, &str)] = &[
    ("i8", "I8"),
    ("i16", "I16"),
    ("i32", "I32"),
    ("i64", "I64"),
    ("u8", "U8"),
    ("u16", "U16"),
    ("u32", "U32"),
    ("u64", "U64"),
];

pub(crate) fn expand(input: &DeriveInput, data: &DataEnum) -> syn::Result<TokenStream> {
    let attributes = Attributes::read(&input.attrs, OF_ENUMERATIONS)?;
    let (home, ident, name) = (attributes.home(), &input.ident, attributes.name_or(&input.ident));
    let dtype = dtype(input, &attributes)?;
    let names: Vec<_> = data.variants.iter().map(variant_name).collect::<syn::Result<_>>()?;
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    let (put, take) = (put(&home, &dtype, &variants), take(&home, &name, &variants));
    let straight = straight(&home, &dtype, &variants);
    Ok(quote! {
        impl #home::record::ElementValue for #ident {
            fn element() -> #home::record::FieldElement {
                #home::record::FieldElement::Enum(
                    #home::record::EnumType::new(#name, #home::Dtype::#dtype)
                        #(.variant(#names, Self::#variants as i64))*
                )
            }
            #put
            #take
            #straight

            fn lies_as_element() -> bool {
                #home::Dtype::#dtype.size_bytes() == ::core::option::Option::Some(::core::mem::size_of::<Self>())
            }
        }
    })
}

/// Writing names as their numbers.
fn put(home: &TokenStream, dtype: &Ident, variants: &[&Ident]) -> TokenStream {
    quote! {
        fn put_elements(
            values: &[Self],
            to: &mut #home::record::ElementTarget<'_>,
        ) -> ::core::result::Result<(), #home::record::EncodeError> {
            let number = |value: &Self| match value { #(Self::#variants => Self::#variants as i64),* };
            let numbers: ::std::vec::Vec<i64> = values.iter().map(number).collect();
            to.put_integers(#home::Dtype::#dtype, &numbers)
        }
    }
}

/// Reading numbers as names.
fn take(home: &TokenStream, name: &str, variants: &[&Ident]) -> TokenStream {
    quote! {
        fn take_element(
            value: #home::record::Value<'_>,
        ) -> ::core::result::Result<Self, #home::record::RecordReadError> {
            match value.as_integer().unwrap_or(i128::MAX) {
                #(number if number == Self::#variants as i64 as i128 => {
                    ::core::result::Result::Ok(Self::#variants)
                })*
                number => ::core::result::Result::Err(#home::record::RecordReadError::UnknownName {
                    names: ::std::string::String::from(#name),
                    number,
                }),
            }
        }
    }
}

/// Reading names from where their numbers lie. An enumeration without names is no type, so it needs no such way.
fn straight(home: &TokenStream, dtype: &Ident, variants: &[&Ident]) -> Option<TokenStream> {
    let (first, integer) = (variants.first()?, integer(dtype));
    Some(quote! {
        const PLAIN_ELEMENT: ::core::option::Option<#home::record::PlainForm> =
            #home::record::PlainForm::of(#home::Dtype::#dtype);

        #[inline(always)]
        fn plain_element() -> ::core::option::Option<impl ::core::ops::Fn(&[u8], &mut bool) -> Self> {
            ::core::option::Option::Some(|bytes: &[u8], is_sound: &mut bool| {
                let number = #home::record::plain_number(bytes, is_sound);
                match ::core::primitive::#integer::from_ne_bytes(number) as i128 {
                    #(number if number == Self::#variants as i64 as i128 => Self::#variants,)*
                    _ => {
                        *is_sound = false;
                        Self::#first
                    }
                }
            })
        }
    })
}

fn variant_name(variant: &Variant) -> syn::Result<String> {
    if !matches!(variant.fields, Fields::Unit) {
        let message = "an enumeration of records has no data: use a record with optional fields";
        return Err(Error::new_spanned(variant, message));
    }
    Ok(Attributes::read(&variant.attrs, OF_VARIANTS)?.name_or(&variant.ident))
}

/// The integer type that was asked for, or Rust's own.
fn dtype(input: &DeriveInput, attributes: &Attributes) -> syn::Result<Ident> {
    let asked = attributes.dtype.as_ref().map(|text| (text.value(), text.span()));
    let own = || input.attrs.iter().find_map(representation).map(|ident| (ident.to_string(), ident.span()));
    let (wanted, span) = asked.or_else(own).unwrap_or_else(|| ("i32".into(), input.ident.span()));
    let known = INTEGERS.iter().find(|(rust, _)| *rust == wanted);
    let unknown = || Error::new(span, format!("{wanted:?} is no integer type of i8 to u64"));
    known.map(|(_, dtype)| Ident::new(dtype, span)).ok_or_else(unknown)
}

/// What Rust calls an integer type.
fn integer(dtype: &Ident) -> Ident {
    Ident::new(&dtype.to_string().to_lowercase(), dtype.span())
}

/// The integer type of `#[repr(..)]`.
fn representation(attribute: &Attribute) -> Option<Ident> {
    if !attribute.path().is_ident("repr") {
        return None;
    }
    let ident = attribute.parse_args::<Ident>().ok()?;
    INTEGERS.iter().any(|(rust, _)| ident == rust).then_some(ident)
}
