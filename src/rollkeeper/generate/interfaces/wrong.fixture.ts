import type { KubernetesObject } from '../../../runtime/index.js';
import { defineKind } from '../../../runtime/index.js';

const place = { group: 'example.com', version: 'v1' };

interface Tree {
  child?: Tree;
}
/** @crd */
interface Recursive extends KubernetesObject {
  spec: { child: Tree };
}
export const Recursive = defineKind<Recursive>({ ...place, kind: 'Recursive' });

/** @crd */
interface Alternatives extends KubernetesObject {
  spec: { a: string | { b: string } };
}
export const Alternatives = defineKind<Alternatives>({ ...place, kind: 'Alternatives' });

/** @crd */
interface Functions extends KubernetesObject {
  spec: { run: () => void };
}
export const Functions = defineKind<Functions>({ ...place, kind: 'Functions' });

/** @crd */
interface Maps extends KubernetesObject {
  spec: { map: Map<string, string> };
}
export const Maps = defineKind<Maps>({ ...place, kind: 'Maps' });

/** @crd */
interface Mistyped extends KubernetesObject {
  spec: {
    /** @minimun 3 */
    a: number;
  };
}
export const Mistyped = defineKind<Mistyped>({ ...place, kind: 'Mistyped' });

/** @crd */
interface NoNumber extends KubernetesObject {
  spec: {
    /** @minimum three */
    a: number;
  };
}
export const NoNumber = defineKind<NoNumber>({ ...place, kind: 'NoNumber' });

/** @crd */
interface Misplaced extends KubernetesObject {
  spec: {
    /** @column A .spec.a */
    a: number;
  };
}
export const Misplaced = defineKind<Misplaced>({ ...place, kind: 'Misplaced' });

/**
 * @crd
 * @column Host
 */
interface NoColumn extends KubernetesObject {
  spec: { a: number };
}
export const NoColumn = defineKind<NoColumn>({ ...place, kind: 'NoColumn' });

/** @crd */
interface Unruly extends KubernetesObject {
  spec: {
    /** @message no rule */
    a: number;
  };
}
export const Unruly = defineKind<Unruly>({ ...place, kind: 'Unruly' });

/**
 * The schema is well-formed, and the rule is not.
 * @crd
 * @rule self.spec.nothing == 1
 */
interface Refused extends KubernetesObject {
  spec: { a: number };
}
export const Refused = defineKind<Refused>({ ...place, kind: 'Refused' });
