import type { RunningApiServer } from '../../integration/api-server-harness.js';
import { createKindRegistry, createSchemaRegistry } from '../../../src/apiserver/index.js';
import type { KindDefinition } from '../../../src/apiserver/index.js';
import { Bodies } from './bodies.js';
import type { Variety } from './bodies.js';
import type { GrowingField } from './fields.js';
import { growingFields } from './fields.js';
import { growth, processorTime } from './measure.js';
import type { WriteMethod } from './write.js';
import { Writer } from './write.js';

/** One way to make a field long, and to send it. */
export interface Way {
  readonly sort: GrowingField['sort'];
  readonly method: WriteMethod;
  /** The ways to fill the entries of a list or map. */
  readonly variety?: Variety;
  /** The pattern that a text repeats. */
  readonly unit?: string;
}

/** The sizes that are doubled three times: entries, and characters. */
const ENTRIES = 500;
const CHARACTERS = 16 * 1024;

/** All that can grow, in the order in which a pod's own fields come first. */
export function allFields(): GrowingField[] {
  const isPod = ({ type }: KindDefinition): number => (type.kind === 'Pod' ? 0 : 1);
  const kinds = [...createKindRegistry().kinds].sort((a, b) => isPod(a) - isPod(b));
  return growingFields(kinds, createSchemaRegistry());
}

/** An object with one field that is as long as wanted. */
export interface Growing {
  readonly name: string;
  readonly type: KindDefinition['type'];
  /** The part of the object to which it is sent. @default the object itself */
  readonly subresource?: string;
  readonly sort: GrowingField['sort'];
  readonly make: (length: number, way: Way) => object;
}

/** The fields of the built-in types, each as an object of which it is a part. */
export function growingOf(fields: readonly GrowingField[]): Growing[] {
  const bodies = new Bodies(createSchemaRegistry());
  return fields.map((field) => {
    const isStatus = field.path[0] === 'status' && field.kind.subresources.includes('status');
    return {
      name: field.name,
      type: field.kind.type,
      sort: field.sort,
      ...(isStatus && { subresource: 'status' }),
      make: (length, { unit, variety = 'different' }) => bodies.make(field, length, variety, unit) as object,
    };
  });
}

/** The fields whose cost grows faster than their length, each with the measured times. */
export async function steepOf(
  api: RunningApiServer,
  growing: readonly Growing[],
  waysOf: (index: number) => readonly Way[],
): Promise<string[]> {
  const writer = new Writer(api);
  const steep: string[] = [];
  for (const [index, { make, name, sort, subresource = '', type }] of growing.entries()) {
    const unit = sort === 'text' ? CHARACTERS : ENTRIES;
    for (const way of waysOf(index).filter((each) => each.sort === sort)) {
      await writer.prepare(type, way.method);
      const cost = (times: number) => {
        const send = writer.write({ type, subresource }, way.method, make(times * unit, way));
        return () => processorTime(send);
      };
      const { isSteep, largeMs, smallMs } = await growth(cost(1), cost(8));
      if (isSteep) steep.push(`${name} ${JSON.stringify(way)}: ${smallMs} ms, eight times: ${largeMs} ms`);
    }
  }
  return steep;
}

/** The fields whose cost grows faster than they do. */
export function steepFields(
  api: RunningApiServer,
  fields: readonly GrowingField[],
  ways: readonly Way[],
): Promise<string[]> {
  return steepOf(api, growingOf(fields), () => ways);
}
