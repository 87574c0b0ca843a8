import fc from 'fast-check';
import { cloneJson, setField } from '../../../src/machinery/kubernetes/index.js';
import type { FuzzedApi, FuzzedResource, OpenApiNode } from './api.js';
import { hostileKey, hostileScalar, hostileValue, objectOf } from './values.js';

/** One change to a value: at the place with that number, counted through. */
interface Mutation {
  readonly at: number;
  readonly how: 'replace' | 'add' | 'remove' | 'repeat' | 'move';
  readonly key: string;
  readonly value: unknown;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(10_000),
  how: fc.constantFrom('replace', 'replace', 'replace', 'add', 'add', 'remove', 'repeat', 'move'),
  key: hostileKey,
  value: hostileValue,
});

/** The value with a few things in it changed. */
export function mutated(base: fc.Arbitrary<unknown>, { maxLength = 4 } = {}): fc.Arbitrary<unknown> {
  return fc
    .tuple(base, fc.array(mutation, { maxLength }))
    .map(([value, mutations]) => mutations.reduce(mutate, cloneJson(value)));
}

interface Slot {
  readonly container: Record<string, unknown> | unknown[];
  readonly key: string | number;
}

const MOST_SLOTS = 5000;

/** Every place in the value, outer ones first. Without recursion: hostile values are deeper than a call stack. */
function slotsOf(value: unknown): Slot[] {
  const slots: Slot[] = [];
  const waiting = [value];
  for (let next = waiting.pop(); next !== undefined && slots.length < MOST_SLOTS; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const container = next as Record<string, unknown> | unknown[];
    const keys = Array.isArray(container) ? container.keys() : Object.keys(container);
    for (const key of keys) slots.push({ container, key });
    // Too wide to be passed as arguments, sometimes.
    for (const item of Object.values(container)) if (item !== undefined && item !== null) waiting.push(item);
  }
  return slots;
}

function mutate(value: unknown, { at, how, key, value: shared }: Mutation): unknown {
  // Several mutations may have the same object: put into itself it would have no end.
  const hostile = cloneJson(shared);
  const slots = slotsOf(value);
  const slot = slots[at % Math.max(slots.length, 1)];
  if (!slot) return hostile;
  const { container } = slot;
  if (Array.isArray(container)) mutateList(container, slot.key as number, how, hostile);
  else mutateObject(container, slot.key as string, how, key, hostile);
  return value;
}

function mutateList(list: unknown[], index: number, how: Mutation['how'], hostile: unknown): void {
  if (how === 'replace') list[index] = hostile;
  else if (how === 'remove') list.splice(index, 1);
  else if (how === 'repeat') list.push(...Array.from({ length: 50 }, () => list[index]));
  else list.push(hostile);
}

function mutateObject(
  fields: Record<string, unknown>,
  name: string,
  how: Mutation['how'],
  key: string,
  hostile: unknown,
): void {
  if (how === 'replace') setField(fields, name, hostile);
  else if (how === 'remove') delete fields[name];
  else if (how === 'move') {
    setField(fields, key, fields[name]);
    delete fields[name];
  } else setField(fields, key, hostile);
}

const MAX_SCHEMA_DEPTH = 7;

/** Objects as the server describes them, a few fields each; some of them wrong. */
export class SchemaObjects {
  private readonly known = new Map<string, fc.Arbitrary<unknown>>();

  constructor(private readonly schemas: ReadonlyMap<string, OpenApiNode>) {}

  of(resource: FuzzedResource): fc.Arbitrary<unknown> {
    if (resource.schema === undefined) return hostileValue;
    const { apiVersion, kind } = resource;
    return this.named(resource.schema, 0).map((object) =>
      typeof object === 'object' ? { apiVersion, kind, ...object } : object,
    );
  }

  private named(name: string, depth: number): fc.Arbitrary<unknown> {
    const key = `${name} ${depth}`;
    let known = this.known.get(key);
    if (!known) {
      known = this.node(this.schemas.get(name) ?? {}, depth);
      this.known.set(key, known);
    }
    return known;
  }

  private node(node: OpenApiNode, depth: number): fc.Arbitrary<unknown> {
    const right = this.right(node, depth);
    return fc.oneof({ weight: 30, arbitrary: right }, { weight: 1, arbitrary: hostileValue });
  }

  private right(node: OpenApiNode, depth: number): fc.Arbitrary<unknown> {
    const ref = node.$ref ?? node.allOf?.[0]?.$ref;
    if (depth > MAX_SCHEMA_DEPTH) return hostileScalar;
    if (ref !== undefined) return this.named(ref.slice(ref.lastIndexOf('/') + 1), depth + 1);
    if (node.oneOf)
      return fc.oneof(fc.nat(100), fc.constantFrom('30%', 'http', '100m', '1Gi'), hostileScalar);
    switch (node.type) {
      case 'object':
        return node.properties ? this.struct(node.properties, depth) : this.map(node, depth);
      case 'array':
        return fc.array(this.node(node.items ?? {}, depth + 1), { maxLength: 3 });
      case 'integer':
        return fc.oneof(fc.nat(100), fc.integer());
      case 'boolean':
        return fc.boolean();
      case 'number':
        return fc.double();
      case 'string':
        return fc.oneof(fc.constantFrom('a', 'b', 'sample', 'fuzz', 'Always', 'c'), hostileScalar);
      default:
        return hostileValue;
    }
  }

  private struct(properties: Readonly<Record<string, OpenApiNode>>, depth: number): fc.Arbitrary<unknown> {
    const all = Object.keys(properties);
    return fc
      .subarray(all, { maxLength: Math.min(depth < 2 ? 6 : 3, all.length) })
      .chain((names) =>
        fc
          .tuple(...names.map((name) => this.node(properties[name]!, depth + 1)))
          .map((values) => objectOf(names.map((name, index) => [name, values[index]]))),
      );
  }

  private map(node: OpenApiNode, depth: number): fc.Arbitrary<unknown> {
    const item = typeof node.additionalProperties === 'object' ? node.additionalProperties : {};
    const key = fc.oneof(fc.constantFrom('app', 'a', 'cpu', 'memory', 'constructor'), hostileKey);
    return fc.array(fc.tuple(key, this.node(item, depth + 1)), { maxLength: 3 }).map(objectOf);
  }
}

/** Objects of a kind, right and wrong. */
export function objectsOf(api: FuzzedApi): (resource: FuzzedResource) => fc.Arbitrary<unknown> {
  const bySchema = new SchemaObjects(api.schemas);
  const known = new Map<FuzzedResource, fc.Arbitrary<unknown>>();
  return (resource) => {
    let arbitrary = known.get(resource);
    if (!arbitrary) {
      arbitrary = fc.oneof(
        { weight: 4, arbitrary: mutated(fc.constant(resource.sample)) },
        { weight: 2, arbitrary: bySchema.of(resource) },
        { weight: 1, arbitrary: hostileValue },
      );
      known.set(resource, arbitrary);
    }
    return arbitrary;
  };
}
