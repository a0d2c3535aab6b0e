//! Where public types have their inherent implementations, and who imports through the root's face.

use super::arrows::Graph;

impl Graph {
    /// Complains about each public type that is implemented in more files than the limit.
    pub(crate) fn implementation_complaints(&self, limit: usize) -> Vec<String> {
        let scattered = self.implementation_texts().into_iter().filter(|(count, _)| *count > limit);
        scattered.map(|(_, text)| format!("{text}; at most {limit} may")).collect()
    }

    /// How many files implement each public type, and which, the most scattered type first.
    pub(crate) fn implementation_texts(&self) -> Vec<(usize, String)> {
        let text = |defined: &usize, name: &String, files: &std::collections::BTreeSet<usize>| {
            let files: Vec<&str> = files.iter().map(|file| self.files[*file].path.as_str()).collect();
            let count = files.len();
            (
                count,
                format!(
                    "{}: {name} is implemented in {count} files: {}",
                    self.files[*defined].path,
                    files.join(" ")
                ),
            )
        };
        let types = self.implementations.iter();
        let mut texts: Vec<_> = types.map(|((defined, name), files)| text(defined, name, files)).collect();
        texts.sort_by_key(|(count, text)| (std::cmp::Reverse(*count), text.clone()));
        texts
    }

    /// Complains about each import of what the root merely shows.
    pub(crate) fn face_complaints(&self) -> Vec<String> {
        let faces = self.faces.iter();
        faces
            .map(|(file, path)| {
                let path_of_file = &self.files[*file].path;
                format!(
                    "{path_of_file}: {path} goes through the root's face: import it from where it is defined"
                )
            })
            .collect()
    }
}
