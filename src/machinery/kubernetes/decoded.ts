import type { KubernetesObject } from './objects.js';

/**
 * The result of the API server's decoder for a body of type `T`: every field may be missing, at every depth, and a
 * field that the API gives a list of words may hold any word. Entries of arrays and maps are there: the decoder fills
 * in for their nulls.
 *
 * Objects are `Decoded` until they have been validated, and `T` from then on. One mapped type in place of a second set of generated
 * interfaces: its name says at each place of use why a guard is needed there.
 */
export type Decoded<T> = T extends string
  ? string
  : T extends readonly (infer Item)[]
    ? Decoded<Item>[]
    : T extends object
      ? string extends keyof T
        ? DecodedMap<T>
        : DecodedFields<T>
      : T;

/** A whole object of a kind: the decoder makes `metadata` where it is missing, whose integers are int64. */
export type DecodedObject<T> = Decoded<Omit<T, keyof KubernetesObject>> & KubernetesObject;

/** With names of their own, messages of the compiler say `DecodedFields<Container>` and not all fields. */
type DecodedFields<T> = { [Key in keyof T]?: Decoded<T[Key]> };
type DecodedMap<T> = { [Key in keyof T]: Decoded<T[Key]> };
