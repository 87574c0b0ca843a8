import type { RunningApiServer } from '../../integration/api-server-harness.js';
import { createKindRegistry, createSchemaRegistry } from '../../../src/apiserver/index.js';
import type { KindDefinition } from '../../../src/apiserver/index.js';
import type { Variety } from './bodies.js';
import { Bodies } from './bodies.js';
import type { GrowingField } from './fields.js';
import { growingFields } from './fields.js';
import { growth, processorTime } from './measure.js';

/** One way to make a field long, and to send it. */
export interface Way {
  readonly sort: GrowingField['sort'];
  readonly method: 'create' | 'apply';
  /** The ways to fill the entries of a list or map. */
  readonly variety?: Variety;
  /** The pattern that a text repeats. */
  readonly unit?: string;
}

/** The sizes that are doubled three times: entries, and characters. */
const ENTRIES = 500;
const CHARACTERS = 16 * 1024;
/** A refusal names hundreds of errors at most, and repeats little of the request in each. */
const LONGEST_REFUSAL = 256 * 1024;

/** All that can grow, in the order in which a pod's own fields come first. */
export function allFields(): GrowingField[] {
  const isPod = ({ type }: KindDefinition): number => (type.kind === 'Pod' ? 0 : 1);
  const kinds = [...createKindRegistry().kinds].sort((a, b) => isPod(a) - isPod(b));
  return growingFields(kinds, createSchemaRegistry());
}

/** The fields whose cost grows faster than they do, each with what was measured. */
export async function steepFields(
  api: RunningApiServer,
  fields: readonly GrowingField[],
  ways: readonly Way[],
): Promise<string[]> {
  const bodies = new Bodies(createSchemaRegistry());
  const steep: string[] = [];
  for (const field of fields) {
    for (const way of ways.filter(({ sort }) => sort === field.sort)) {
      const length = field.sort === 'text' ? CHARACTERS : ENTRIES;
      const cost = (times: number) => {
        const body = JSON.stringify(bodies.make(field, times * length, way.variety ?? 'different', way.unit));
        return () => processorTime(() => send(api, field.kind, way, body));
      };
      const { isSteep, largeMs, smallMs } = await growth(cost(1), cost(8));
      if (isSteep)
        steep.push(`${field.name} ${JSON.stringify(way)}: ${smallMs} ms, eight times: ${largeMs} ms`);
    }
  }
  return steep;
}

async function send(api: RunningApiServer, { type }: KindDefinition, way: Way, body: string): Promise<void> {
  const root = type.group === '' ? '/api' : `/apis/${type.group}`;
  const collection = `${root}/${type.version}${type.namespaced ? '/namespaces/default' : ''}/${type.resource}`;
  const { status, text } =
    way.method === 'create'
      ? await api.call('POST', `${collection}?dryRun=All`, body)
      : await api.call('PATCH', `${collection}/growing?dryRun=All&fieldManager=growth&force=true`, body, {
          'content-type': 'application/apply-patch+yaml',
        });
  if (status >= 400 && text.length > LONGEST_REFUSAL)
    throw new Error(`the refusal of ${type.resource} has ${text.length} characters`);
}
