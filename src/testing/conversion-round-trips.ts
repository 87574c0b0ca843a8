import type { RandomSource } from '@rollkeeper/machinery/clock';
import { SeededRandom, SystemRandom } from '@rollkeeper/machinery/clock';
import {
  apiVersionOf,
  cloneJson,
  isJsonObject,
  sameJson,
  stringifyJson,
} from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { WebhookDefinition } from '@rollkeeper/webhooks';
import { convertObject } from '@rollkeeper/webhooks';

/** Makes a random object of one version; the parts that it has and lacks are its own business. */
export type ObjectGenerator = (random: RandomSource) => Omit<KubernetesObject, 'apiVersion' | 'kind'>;

/** The options of {@link checkConversionRoundTrips}. */
export interface RoundTripOptions {
  /** By version, `v1beta1`; at least the hub. Versions without one are only passed through on the way back. */
  readonly objects: Readonly<Record<string, ObjectGenerator>>;
  /** @default 200 for each version with a generator */
  readonly runs?: number;
  /** To play a failure again. @default chosen, and named by the failure */
  readonly seed?: number;
}

const DEFAULT_RUNS = 200;
const LARGEST_SEED = 2 ** 31;

/**
 * Checks that the conversions of a webhook lose nothing: each object is converted to every other version and back, and comes
 * back the same, as an API server needs that stores one version and serves all. Also that no conversion changes what it is given, and that
 * metadata but labels and annotations stay.
 * @throws Error naming the seed, the versions, the object, and the first field that differs
 */
export function checkConversionRoundTrips(
  webhook: WebhookDefinition,
  {
    objects,
    runs = DEFAULT_RUNS,
    seed = Math.trunc(new SystemRandom().next() * LARGEST_SEED),
  }: RoundTripOptions,
): void {
  const kinds = [webhook.kind, ...(webhook.convert ?? []).map(({ kind }) => kind)];
  const unknown = Object.keys(objects).find((version) => !kinds.some((kind) => kind.version === version));
  if (unknown !== undefined || Object.keys(objects).length === 0)
    throw new Error(`objects: name some of ${kinds.map(({ version }) => version).join(', ')}`);
  const random = new SeededRandom(seed);
  for (const from of kinds.filter(({ version }) => objects[version])) {
    for (let run = 0; run < runs; run++) {
      const made = objects[from.version]?.(random) ?? { metadata: { name: 'x' } };
      const object: KubernetesObject = { ...made, apiVersion: apiVersionOf(from), kind: from.kind };
      for (const by of kinds) {
        if (by === from) continue;
        const problem = problemOf(webhook, object, apiVersionOf(by));
        if (problem === undefined) continue;
        const way = `${from.version} -> ${by.version} -> ${from.version}`;
        throw new Error(`${way}, seed ${seed}: ${problem}\n${stringifyJson(object)}`);
      }
    }
  }
}

function problemOf(
  webhook: WebhookDefinition,
  object: KubernetesObject,
  version: string,
): string | undefined {
  const given = cloneJson(object);
  const converted = convertObject(webhook, given, version);
  const back = convertObject(webhook, converted, object.apiVersion);
  if (!sameJson(given, object)) return `the conversion has changed its input: ${differenceOf(object, given)}`;
  if (!sameJson(object, back)) return `it comes back another: ${differenceOf(object, back)}`;
  return undefined;
}

/** The first field that differs, and how. */
function differenceOf(before: unknown, after: unknown, path = ''): string {
  if (isJsonObject(before) && isJsonObject(after)) {
    for (const field of new Set([...Object.keys(before), ...Object.keys(after)]))
      if (!sameJson(before[field], after[field]))
        return differenceOf(before[field], after[field], path === '' ? field : `${path}.${field}`);
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    const index = before.findIndex((item, at) => !sameJson(item, after[at]));
    return differenceOf(before[index], after[index], `${path}[${index}]`);
  }
  const shown = (value: unknown): string => (value === undefined ? 'nothing' : stringifyJson(value));
  return `${path || 'the object'} was ${shown(before)} and is ${shown(after)}`;
}
