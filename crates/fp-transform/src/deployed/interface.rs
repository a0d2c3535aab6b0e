//! What a module has to export, and that it imports nothing.

use wasmtime::{ExternType, Module, ValType};

use super::error::DeployError;

/// Checks what a module imports and exports.
pub(super) fn check(module: &Module) -> Result<(), DeployError> {
    if let Some(import) = module.imports().next() {
        let (module, name) = (import.module().to_owned(), import.name().to_owned());
        return Err(DeployError::Import { module, name });
    }
    let function = |name: &'static str, parameters: usize| {
        let is_right = match module.get_export(name) {
            Some(ExternType::Func(of)) => {
                let is_i32 = |value: ValType| matches!(value, ValType::I32);
                of.params().len() == parameters
                    && of.results().len() == 1
                    && of.params().chain(of.results()).all(is_i32)
            }
            _ => false,
        };
        let wanted = if parameters == 1 { "(i32) -> i32" } else { "(i32, i32, i32) -> i32" };
        is_right.then_some(()).ok_or(DeployError::Export { name, wanted })
    };
    function("flexpath_reserve_1", 1)?;
    function("flexpath_transform_1", 3)?;
    match module.get_export("memory") {
        Some(ExternType::Memory(memory)) if !memory.is_64() && !memory.is_shared() => Ok(()),
        _ => Err(DeployError::Export { name: "memory", wanted: "its one memory" }),
    }
}
