//! What `#[record(..)]` says.

use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Expr, Ident, LitStr, Path};

/// All that may be said; each place refuses what means nothing there.
#[derive(Default)]
pub(crate) struct Attributes {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) unit: Option<LitStr>,
    pub(crate) default: Option<Expr>,
    pub(crate) sized_by: Option<LitStr>,
    pub(crate) indexes: Option<LitStr>,
    pub(crate) dtype: Option<LitStr>,
    pub(crate) path: Option<Path>,
}

impl Attributes {
    /// Reads the attributes of something that `allowed` can be said of.
    pub(crate) fn read(attributes: &[Attribute], allowed: &[&str]) -> syn::Result<Self> {
        let mut found = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("record")) {
            attribute.parse_nested_meta(|meta| {
                let name = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
                if !allowed.contains(&name.as_str()) {
                    return Err(
                        meta.error(format!("{name:?} means nothing here; {} does", allowed.join(", ")))
                    );
                }
                found.set(&name, &meta)
            })?;
        }
        Ok(found)
    }

    fn set(&mut self, name: &str, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let value = meta.value()?;
        match name {
            "name" => self.name = Some(value.parse()?),
            "description" => self.description = Some(value.parse()?),
            "unit" => self.unit = Some(value.parse()?),
            "default" => self.default = Some(value.parse()?),
            "sized_by" => self.sized_by = Some(value.parse()?),
            "indexes" => self.indexes = Some(value.parse()?),
            "dtype" => self.dtype = Some(value.parse()?),
            _ => self.path = Some(value.call(Path::parse_mod_style)?),
        }
        Ok(())
    }

    /// The name that counts.
    pub(crate) fn name_or(&self, ident: &Ident) -> String {
        let own = || ident.to_string().trim_start_matches("r#").to_owned();
        self.name.as_ref().map_or_else(own, LitStr::value)
    }

    /// The crate that has the modules `record` and the type `Dtype`.
    pub(crate) fn home(&self) -> TokenStream {
        self.path.as_ref().map_or_else(|| quote!(::flexpath), |path| quote!(#path))
    }
}
