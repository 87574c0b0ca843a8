/** The names of a record's fields. For records that are written out in code: they have no fields beside those of their type. */
export function namesOf<T extends object>(record: T): readonly (keyof T & string)[] {
  return Object.keys(record) as (keyof T & string)[];
}
