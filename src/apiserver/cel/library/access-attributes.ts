/** An access to an object, or to a whole resource. Empty: not named. */
export interface ResourceAttributes {
  readonly path?: undefined;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty: cluster scope, or all namespaces. */
  readonly namespace: string;
  readonly name: string;
  /**
   * The fields by which a list, a watch or the deletion of a collection is limited, as far as its `fieldSelector`
   * requires values.
   */
  readonly fieldSelector?: readonly FieldRequirement[];
}

/** A field that must have a value. */
export interface FieldRequirement {
  readonly field: string;
  readonly value: string;
}

/** A path that addresses no resource: `/version`, `/apis`. */
interface PathAttributes {
  readonly path: string;
  /** The method in lower case. */
  readonly verb: string;
}

/** The question that an authoriser answers (apiserver's `authorizer.Attributes`, without the user). */
export type AccessAttributes = ResourceAttributes | PathAttributes;

/** `pods/log`: how rules name a subresource. */
export function combinedResource({ resource, subresource }: ResourceAttributes): string {
  return subresource === '' ? resource : `${resource}/${subresource}`;
}
