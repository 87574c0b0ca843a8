/** resourceVersions by qualified resource (`replicasets.apps`). */
export type ResourceVersions = Readonly<Record<string, string>>;
