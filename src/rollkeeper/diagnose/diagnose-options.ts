/** How a cluster is looked at. */
export interface DiagnoseOptions {
  readonly nowMs: number;
  readonly signal?: AbortSignal;
  /** Whose rights count, in the notes about what may not be listed. @default 'You' */
  readonly reader?: string;
}
