//! The rules, each with the document and the part of it that it is from.

/// Declares rules: each with its name, and where it stands.
macro_rules! rules {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $origin:expr;)*) => {
        /// A rule of a convention.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[$doc])* $variant,)*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant),*];

            /// Its name, such as `openpmd-unit-si`: it stays the same.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The document that it is from, and the part of it.
            pub fn origin(self) -> &'static str {
                match self {
                    $(Self::$variant => $origin,)*
                }
            }
        }
    };
}

const ROOT: &str = "openPMD 1.1.0, Hierarchy of the Data File";
const TIME: &str = "openPMD 1.1.0, Required Attributes for the basePath";
const NAMING: &str = "openPMD 1.1.0, Scalar, Vector and Tensor Records";
const MESH: &str = "openPMD 1.1.0, Mesh Based Records";
const PARTICLES: &str = "openPMD 1.1.0, Particle Records";
const UNITS: &str = "openPMD 1.1.0, Unit Systems and Dimensionality";
const CONSTANT: &str = "openPMD 1.1.0, Constant Record Components";
const ED_PIC: &str = "openPMD 1.1.0, extension ED-PIC, Particle Records";
const PROTOCOL: &str = "Conduit Mesh Blueprint, Protocol";
const COORDINATES: &str = "Conduit Mesh Blueprint, Coordinate Sets";
const TOPOLOGIES: &str = "Conduit Mesh Blueprint, Topologies";
const FIELDS: &str = "Conduit Mesh Blueprint, Fields";
const LEVELS: &str = "openPMD, proposed extension PatchBasedMeshRefinement";
const OWN: &str = "Flexpath, docs/conventions.md, Refined meshes";

rules! {
    /// `openPMD` is the text of a version 1.0 or 1.1. From openPMD 1.1.0, Hierarchy of the Data File.
    OpenPmdVersion = "openpmd-version", ROOT;
    /// `openPMDextension` is a bit mask. From openPMD 1.1.0, Hierarchy of the Data File.
    OpenPmdExtension = "openpmd-extension", ROOT;
    /// `meshesPath` or `particlesPath` is there, and ends in a slash. From openPMD 1.1.0, Hierarchy of the Data File.
    OpenPmdPath = "openpmd-path", ROOT;
    /// Author, software and date are recommended. From openPMD 1.1.0, Hierarchy of the Data File.
    OpenPmdAuthor = "openpmd-author", ROOT;
    /// `time`, `dt` and `timeUnitSI` are real numbers. From openPMD 1.1.0, Required Attributes for the basePath.
    OpenPmdTime = "openpmd-time", TIME;
    /// Names are words, of a record and a component. From openPMD 1.1.0, Scalar, Vector and Tensor Records.
    OpenPmdName = "openpmd-name", NAMING;
    /// A component is one array of numbers. From openPMD 1.1.0, Scalar, Vector and Tensor Records.
    OpenPmdComponent = "openpmd-component", NAMING;
    /// What belongs to a record is the same in all its components. From openPMD 1.1.0, Scalar, Vector and Tensor Records.
    OpenPmdSame = "openpmd-same", NAMING;
    /// `geometry` is one of the known. From openPMD 1.1.0, Mesh Based Records.
    OpenPmdGeometry = "openpmd-geometry", MESH;
    /// `dataOrder` is `C` or `F`, as elements lie. From openPMD 1.1.0, Mesh Based Records.
    OpenPmdDataOrder = "openpmd-data-order", MESH;
    /// `axisLabels` has a text for each axis. From openPMD 1.1.0, Mesh Based Records.
    OpenPmdAxisLabels = "openpmd-axis-labels", MESH;
    /// `gridSpacing` has a number above 0 for each axis. From openPMD 1.1.0, Mesh Based Records.
    OpenPmdGridSpacing = "openpmd-grid-spacing", MESH;
    /// `gridGlobalOffset` has a number for each axis. From openPMD 1.1.0, Mesh Based Records.
    OpenPmdGridOffset = "openpmd-grid-offset", MESH;
    /// `gridUnitSI` is a real number. From openPMD 1.1.0, Mesh Based Records.
    OpenPmdGridUnit = "openpmd-grid-unit", MESH;
    /// `position` has a number from 0 to below 1 for each axis. From openPMD 1.1.0, Mesh Based Records.
    OpenPmdPosition = "openpmd-position", MESH;
    /// `unitSI` is a real number. From openPMD 1.1.0, Unit Systems and Dimensionality.
    OpenPmdUnitSi = "openpmd-unit-si", UNITS;
    /// `unitDimension` has seven powers. From openPMD 1.1.0, Unit Systems and Dimensionality.
    OpenPmdUnitDimension = "openpmd-unit-dimension", UNITS;
    /// `timeOffset` is a real number. From openPMD 1.1.0, Unit Systems and Dimensionality.
    OpenPmdTimeOffset = "openpmd-time-offset", UNITS;
    /// A constant component has its `shape`. From openPMD 1.1.0, Constant Record Components.
    OpenPmdConstant = "openpmd-constant", CONSTANT;
    /// A species has `position` and `positionOffset`, of the same components. From openPMD 1.1.0, Particle Records.
    OpenPmdSpecies = "openpmd-species", PARTICLES;
    /// All records of a species are lists of one length. From openPMD 1.1.0, Particle Records.
    OpenPmdParticleCount = "openpmd-particle-count", PARTICLES;
    /// `id` is of type `u64`. From openPMD 1.1.0, Particle Records.
    OpenPmdParticleId = "openpmd-particle-id", PARTICLES;
    /// `weightingPower` and `macroWeighted` say what macroparticles mean. From openPMD 1.1.0, extension ED-PIC.
    OpenPmdWeighting = "openpmd-weighting", ED_PIC;
    /// There is a coordinate set and a topology. From Conduit Mesh Blueprint, Protocol.
    BlueprintProtocol = "blueprint-protocol", PROTOCOL;
    /// A coordinate set has a known `type`. From Conduit Mesh Blueprint, Coordinate Sets.
    BlueprintCoordsetType = "blueprint-coordset-type", COORDINATES;
    /// Coordinates are local lists of numbers, by the names of axes. From Conduit Mesh Blueprint, Coordinate Sets.
    BlueprintCoordinates = "blueprint-coordinates", COORDINATES;
    /// All axes have as many coordinates. From Conduit Mesh Blueprint, Coordinate Sets.
    BlueprintCoordinateCount = "blueprint-coordinate-count", COORDINATES;
    /// A uniform set has its number of points, and maybe origin and spacing. From Conduit Mesh Blueprint, Coordinate Sets.
    BlueprintUniform = "blueprint-uniform", COORDINATES;
    /// A topology has a known `type`. From Conduit Mesh Blueprint, Topologies.
    BlueprintTopologyType = "blueprint-topology-type", TOPOLOGIES;
    /// A topology names a coordinate set that is there, and fits. From Conduit Mesh Blueprint, Topologies.
    BlueprintTopologyCoordset = "blueprint-topology-coordset", TOPOLOGIES;
    /// Elements have a known shape. From Conduit Mesh Blueprint, Topologies.
    BlueprintShape = "blueprint-shape", TOPOLOGIES;
    /// Connectivity is a local list of integers. From Conduit Mesh Blueprint, Topologies.
    BlueprintConnectivity = "blueprint-connectivity", TOPOLOGIES;
    /// Connectivity has whole elements, and points in the same domain. From Conduit Mesh Blueprint, Topologies.
    BlueprintConnectivityCount = "blueprint-connectivity-count", TOPOLOGIES;
    /// An index is that of a point of the same domain. From Conduit Mesh Blueprint, Topologies.
    BlueprintIndex = "blueprint-index", TOPOLOGIES;
    /// A field is associated with vertices or elements. From Conduit Mesh Blueprint, Fields.
    BlueprintAssociation = "blueprint-association", FIELDS;
    /// A field names a topology that is there. From Conduit Mesh Blueprint, Fields.
    BlueprintFieldTopology = "blueprint-field-topology", FIELDS;
    /// A field has values, which are numbers and lie as the mesh does. From Conduit Mesh Blueprint, Fields.
    BlueprintValues = "blueprint-values", FIELDS;
    /// There are as many values as vertices or elements. From Conduit Mesh Blueprint, Fields.
    BlueprintValueCount = "blueprint-value-count", FIELDS;
    /// Levels are numbered without holes. From openPMD, proposed extension PatchBasedMeshRefinement.
    AmrLevels = "amr-levels", LEVELS;
    /// A level is a global array, of the same type as level 0. From Flexpath, docs/conventions.md, Refined meshes.
    AmrSame = "amr-same", OWN;
    /// All components of a record have the same levels. From openPMD, proposed extension PatchBasedMeshRefinement.
    AmrComponents = "amr-components", LEVELS;
    /// `gridSpacing` has a number above 0 for each axis. From openPMD 1.1.0, Mesh Based Records.
    AmrGridSpacing = "amr-grid-spacing", MESH;
    /// `gridGlobalOffset` has a number for each axis. From openPMD 1.1.0, Mesh Based Records.
    AmrGridOffset = "amr-grid-offset", MESH;
    /// `refinementRatio` has an integer for each axis. From openPMD, proposed extension PatchBasedMeshRefinement.
    AmrRatio = "amr-ratio", LEVELS;
    /// `ghosts` is a number of layers. From Flexpath, docs/conventions.md, Refined meshes.
    AmrGhosts = "amr-ghosts", OWN;
    /// Spacing is that of the level below, divided by the ratio. From Flexpath, docs/conventions.md, Refined meshes.
    AmrSpacingRatio = "amr-spacing-ratio", OWN;
    /// All levels begin at the same place. From Flexpath, docs/conventions.md, Refined meshes.
    AmrSameOffset = "amr-same-offset", OWN;
    /// The shape is that of the level below, times the ratio. From Flexpath, docs/conventions.md, Refined meshes.
    AmrShapeRatio = "amr-shape-ratio", OWN;
    /// A block covers whole cells of the level below. From Flexpath, docs/conventions.md, Refined meshes.
    AmrWholeCells = "amr-whole-cells", OWN;
    /// A block lies within blocks of the level below. From Flexpath, docs/conventions.md, Refined meshes.
    AmrNesting = "amr-nesting", OWN;
}
