/** A change of one Service, with the version that it replaces. */
export interface ServiceWrite {
  readonly namespace: string;
  readonly name: string;
  /** A merge patch. */
  readonly patch: {
    readonly metadata: {
      readonly resourceVersion?: string;
      readonly annotations: Readonly<Record<string, string | null>>;
    };
    readonly spec: { readonly selector: Readonly<Record<string, string | null>> };
  };
}
