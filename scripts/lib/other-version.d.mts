export interface VersionPatch {
  /** Path from the root of the repository. */
  readonly file: string;
  /** Occurs once in it. */
  readonly from: string;
  readonly to: string;
}

export interface LoadableVersion {
  /** The path of an ES module with the exports of test/simulation/versions/door.ts. */
  readonly module: string;
  readonly commit: string;
  /** Otherwise it was given the door of this version. */
  readonly hasDoor: boolean;
  readonly remove: () => Promise<void>;
}

export function earlierRevision(): string;
export function loadableVersion(
  ref: string,
  options?: { readonly patches?: readonly VersionPatch[] },
): Promise<LoadableVersion>;
