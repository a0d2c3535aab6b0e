//! The graph in words, for people who move files.

use std::collections::{BTreeMap, BTreeSet};

use super::arrows::Graph;
use super::layers::Layers;

impl Graph {
    /// Figures, circles, folders that know each other, imports through the face, and where types are implemented.
    pub(crate) fn text(&self, folder: &str, layers: Option<&Layers>) -> String {
        let mut text = format!(
            "\n{}\n{}\n",
            if folder.is_empty() { "the root package" } else { folder },
            self.figures()
        );
        for circle in self.circles() {
            let room = if self.is_room(&circle) { "one room: " } else { "" };
            text.push_str(&format!("  {room}{}\n", self.circle_text(&circle)));
        }
        let upward = layers.map_or_else(|| self.mutual(folder), |layers| layers.complaints(self));
        let scattered = self.implementation_texts().into_iter().filter(|(count, _)| *count > 1);
        let rest = upward.into_iter().chain(self.face_complaints()).chain(scattered.map(|(_, text)| text));
        rest.for_each(|line| text.push_str(&format!("  {line}\n")));
        text
    }

    /// One line of figures.
    fn figures(&self) -> String {
        let circles = self.circles();
        let wrong: Vec<_> = circles.iter().filter(|circle| !self.is_room(circle)).collect();
        let inside = |circles: &mut dyn Iterator<Item = &Vec<usize>>| circles.map(Vec::len).sum::<usize>();
        let scattered = self.implementation_texts().iter().filter(|(count, _)| *count > 3).count();
        format!(
            "files {}, arrows {}, circles {} of {} files (beyond one room: {} of {}), arrows in circles {}, \
             imports through the face {}, types implemented in more than three files {scattered}",
            self.files.len(),
            self.arrows.len(),
            circles.len(),
            inside(&mut circles.iter()),
            wrong.len(),
            inside(&mut wrong.iter().copied()),
            circles.iter().map(|circle| self.arrows_inside(circle)).sum::<usize>(),
            self.faces.len(),
        )
    }

    /// How many arrows stay in a circle.
    fn arrows_inside(&self, circle: &[usize]) -> usize {
        self.arrows.keys().filter(|(from, to)| circle.contains(from) && circle.contains(to)).count()
    }

    /// Pairs of top folders (or files) that import from each other, with the arrows of the rarer direction.
    fn mutual(&self, folder: &str) -> Vec<String> {
        let mut between: BTreeMap<(&str, &str), BTreeSet<(usize, usize)>> = BTreeMap::new();
        for (from, to) in self.arrows.keys() {
            let (Some(here), Some(there)) = (self.top(folder, *from), self.top(folder, *to)) else {
                continue;
            };
            between.entry((here, there)).or_default().insert((*from, *to));
        }
        let is_rarer = |((from, to), arrows): &(&(&str, &str), &BTreeSet<(usize, usize)>)| {
            let back = between.get(&(*to, *from)).filter(|_| from != to);
            back.is_some_and(|back| (arrows.len(), *from) < (back.len(), *to))
        };
        between
            .iter()
            .filter(is_rarer)
            .flat_map(|((from, to), arrows)| self.against(from, to, arrows))
            .collect()
    }

    /// The arrows from one folder to another, under a headline.
    fn against(&self, from: &str, to: &str, arrows: &BTreeSet<(usize, usize)>) -> Vec<String> {
        let texts =
            arrows.iter().map(|(a, b)| format!("    {}", self.arrow_text(*a, *b, &self.arrows[&(*a, *b)])));
        std::iter::once(format!("{from} and {to} know each other:")).chain(texts).collect()
    }

    /// The folder, or else the file, directly below `src/`; none for a root.
    fn top(&self, folder: &str, file: usize) -> Option<&str> {
        let file = &self.files[file];
        file.parent?;
        let inside = file.path.strip_prefix(folder)?.trim_start_matches('/').strip_prefix("src/")?;
        inside.split(['/', '.']).next()
    }
}
