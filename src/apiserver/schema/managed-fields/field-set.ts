/**
 * A set of field paths, as a tree. The keys are path elements in the notation of `fieldsV1`: `f:NAME` for a field,
 * `k:{…}` for an item of a list by its keys, `v:VALUE` for an item of a set. Never changed once made.
 */
export interface FieldSet {
  /** Whether the path that leads here is in the set itself, not only paths below it. */
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

const NO_CHILDREN: ReadonlyMap<string, FieldSet> = new Map();

export const EMPTY_SET: FieldSet = { member: false, children: NO_CHILDREN };
export const LEAF: FieldSet = { member: true, children: NO_CHILDREN };

/** A set while it is being collected. */
export class FieldSetBuilder {
  private member = false;
  private children: Map<string, FieldSetBuilder> | undefined;

  insert(): void {
    this.member = true;
  }

  child(element: string): FieldSetBuilder {
    this.children ??= new Map();
    let found = this.children.get(element);
    if (!found) this.children.set(element, (found = new FieldSetBuilder()));
    return found;
  }

  build(): FieldSet {
    if (!this.children) return this.member ? LEAF : EMPTY_SET;
    const children = new Map<string, FieldSet>();
    for (const [element, builder] of this.children) {
      const built = builder.build();
      if (!isEmptySet(built)) children.set(element, built);
    }
    return make(this.member, children);
  }
}

export function isEmptySet(set: FieldSet): boolean {
  return !set.member && set.children.size === 0;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(a)) return b;
  if (isEmptySet(b)) return a;
  const children = new Map(a.children);
  for (const [element, theirs] of b.children) {
    const ours = children.get(element);
    children.set(element, ours ? union(ours, theirs) : theirs);
  }
  return make(a.member || b.member, children);
}

/** By halves, so that many sets cost what they hold, and not that times their number. */
export function unionAll(sets: readonly FieldSet[]): FieldSet {
  if (sets.length < 2) return sets[0] ?? EMPTY_SET;
  const middle = sets.length >> 1;
  return union(unionAll(sets.slice(0, middle)), unionAll(sets.slice(middle)));
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, ours] of a.children) {
    const theirs = b.children.get(element);
    const common = theirs && intersection(ours, theirs);
    if (common && !isEmptySet(common)) children.set(element, common);
  }
  return make(a.member && b.member, children);
}

/** The fields that are in `a` and not in `b`. A path in `b` takes nothing away that is below it. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(b)) return a;
  if (b.children.size === 0) return make(false, a.children);
  const children = new Map<string, FieldSet>();
  for (const [element, ours] of a.children) {
    const theirs = b.children.get(element);
    const rest = theirs ? difference(ours, theirs) : ours;
    if (!isEmptySet(rest)) children.set(element, rest);
  }
  return make(a.member && !b.member, children);
}

/** The same, but a path in `b` takes away everything below it as well. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  if (b.member) return EMPTY_SET;
  if (isEmptySet(b)) return a;
  const children = new Map<string, FieldSet>();
  for (const [element, ours] of a.children) {
    const theirs = b.children.get(element);
    const rest = theirs ? recursiveDifference(ours, theirs) : ours;
    if (!isEmptySet(rest)) children.set(element, rest);
  }
  return make(a.member, children);
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.member !== b.member || a.children.size !== b.children.size) return false;
  for (const [element, ours] of a.children) {
    const theirs = b.children.get(element);
    if (!theirs || !equalSets(ours, theirs)) return false;
  }
  return true;
}

/** A set of whole paths: `setOf(['f:spec', 'f:replicas'])`. */
export function setOf(...paths: readonly (readonly string[])[]): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of paths) {
    let at = builder;
    for (const element of path) at = at.child(element);
    at.insert();
  }
  return builder.build();
}

/** Every path of the set: at each level first its members and then what is below them. Source: `Set.Iterate` of structured-merge-diff. */
export function pathsOf(set: FieldSet): string[][] {
  const children = sortedChildren(set);
  const members = children.flatMap(([element, { member }]) => (member ? [[element]] : []));
  const below = children.flatMap(([element, child]) => pathsOf(child).map((path) => [element, ...path]));
  return [...members, ...below];
}

/** Fields first, then keyed items, values and positions; each in the order of their text. */
export function sortedChildren(set: FieldSet): [string, FieldSet][] {
  const children = [...set.children];
  return children.length < 2 ? children : children.sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

function rank(element: string): number {
  return 'fkvi'.indexOf(element.charAt(0));
}

function make(member: boolean, children: ReadonlyMap<string, FieldSet>): FieldSet {
  if (children.size === 0) return member ? LEAF : EMPTY_SET;
  return { member, children };
}
