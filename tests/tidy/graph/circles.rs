//! Circles of imports: files that know each other, directly or in a round.

use std::collections::BTreeSet;

use super::arrows::Graph;

impl Graph {
    /// Every circle of two files or more.
    pub(crate) fn circles(&self) -> Vec<Vec<usize>> {
        let mut rounds = Rounds::new(self);
        for file in 0..self.files.len() {
            if rounds.index[file].is_none() {
                rounds.visit(file);
            }
        }
        rounds.found
    }

    /// Whether a circle stays in one room: a module's file and modules that this file itself declares.
    pub(crate) fn is_room(&self, circle: &[usize]) -> bool {
        let declared = |file: usize, room: usize| self.files[file].parent == Some(room);
        let is_module = |room: usize| self.files[room].parent.is_some();
        let is_room = |room: usize| circle.iter().all(|file| *file == room || declared(*file, room));
        circle.iter().any(|room| is_module(*room) && is_room(*room))
    }

    /// A complaint for each circle that leaves its room.
    pub(crate) fn circle_complaints(&self) -> Vec<String> {
        let circles = self.circles().into_iter().filter(|circle| !self.is_room(circle));
        circles.map(|circle| self.circle_text(&circle)).collect()
    }

    /// A circle's files, and its arrows with the names that they carry.
    pub(crate) fn circle_text(&self, circle: &[usize]) -> String {
        let inside: BTreeSet<usize> = circle.iter().copied().collect();
        let files: Vec<&str> = inside.iter().map(|file| self.files[*file].path.as_str()).collect();
        let mut text = format!("a circle of {} files: {}", circle.len(), files.join(" "));
        let arrows = self.arrows.iter();
        for ((from, to), names) in
            arrows.filter(|((from, to), _)| inside.contains(from) && inside.contains(to))
        {
            text.push_str(&format!("\n    {}", self.arrow_text(*from, *to, names)));
        }
        text
    }

    /// An arrow and the names that it carries.
    pub(crate) fn arrow_text(&self, from: usize, to: usize, names: &BTreeSet<String>) -> String {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("{} -> {}: {}", self.files[from].path, self.files[to].path, names.join(", "))
    }
}

/// Tarjan's search for what is strongly connected.
struct Rounds {
    reached: Vec<Vec<usize>>,
    index: Vec<Option<usize>>,
    lowest: Vec<usize>,
    open: Vec<usize>,
    count: usize,
    found: Vec<Vec<usize>>,
}

impl Rounds {
    /// A search that has seen nothing.
    fn new(graph: &Graph) -> Self {
        let files = graph.files.len();
        let mut reached = vec![Vec::new(); files];
        graph.arrows.keys().for_each(|(from, to)| reached[*from].push(*to));
        let (index, lowest) = (vec![None; files], vec![0; files]);
        Self { reached, index, lowest, open: Vec::new(), count: 0, found: Vec::new() }
    }

    /// Visits a file and all that it reaches.
    fn visit(&mut self, file: usize) {
        self.index[file] = Some(self.count);
        self.lowest[file] = self.count;
        self.count += 1;
        self.open.push(file);
        for next in self.reached[file].clone() {
            match self.index[next] {
                None => {
                    self.visit(next);
                    self.lowest[file] = self.lowest[file].min(self.lowest[next]);
                }
                Some(index) if self.open.contains(&next) => self.lowest[file] = self.lowest[file].min(index),
                Some(_) => {}
            }
        }
        self.close(file);
    }

    /// Closes what is connected, if the file is where it was entered.
    fn close(&mut self, file: usize) {
        if self.index[file] != Some(self.lowest[file]) {
            return;
        }
        let at = self.open.iter().position(|open| *open == file).unwrap_or(self.open.len());
        let circle = self.open.split_off(at);
        if circle.len() > 1 {
            self.found.push(circle);
        }
    }
}
