export interface Change {
  readonly changed: readonly string[];
  readonly files: readonly string[];
  /** Each package's name, by its folder's, with those that it depends on. */
  readonly packages: ReadonlyMap<string, readonly string[]>;
}

export function affectedTests(change: Change): readonly string[];
export function packagesOfWorkspace(): Map<string, string[]>;
