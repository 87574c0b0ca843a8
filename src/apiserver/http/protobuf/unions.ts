/**
 * Field numbers of the messages that are one of two things in JSON, by its type there: a schema or a boolean
 * (`JSONSchemaPropsOrBool`), a schema or a list (`JSONSchemaPropsOrArray`, `JSONSchemaPropsOrStringArray`).
 */
export const UNION_FIELDS = {
  orBool: { boolean: 1, object: 2, array: undefined },
  orList: { boolean: undefined, object: 1, array: 2 },
} as const;
