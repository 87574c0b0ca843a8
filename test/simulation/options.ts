import { parseArgs } from 'node:util';
import type { WorldKind } from './plan.js';
import { WORLD_NAMES } from './plan.js';

export const USAGE = `npm run simulate -- [options]

Runs three replicas through the faults of a seed, in one process and on simulated time.

  --seed N      the seed, or the first of several (default 1)
  --count N     runs so many seeds (default 1; with --faults as many as are needed)
  --nightly     runs seeds until it is stopped, from where the last such run was
  --seconds N   for how long there are faults, in simulated seconds (default 60, of dense seeds 240)
  --steps N     ends after so many steps
  --world KIND  has Deployments of one kind: plain, policies, requests or lifetimes (default: by the seed)
  --slots       spreads the namespaces over slots of three to five replicas, on a simulated Redis
  --redis       uses the real ioredis, BullMQ and Lua scripts, on a simulated Redis
  --beside REF  runs one or two of the replicas with the sources of another revision, and restarts change that
  --dense       makes a small world where most messages are late, doubled or lost
  --faults N    runs dense seeds until they have made so many faults, each seed twice
    --once      runs each of them once
    --workers N uses so many processes (default: one for each core)
  --trace       prints the end of what happened as a Mermaid sequence diagram
    --whole     prints all of it
  --spans FILE  writes the spans of a seed as OTLP/JSON, which the console opens
  --shrink      writes a test of a seed that fails, with few faults and few users
  --help        prints this

It ends with 0 if all seeds hold, 1 if one fails, 2 if the options are wrong.`;

const NUMBERS = ['seed', 'count', 'seconds', 'steps', 'faults', 'workers'] as const;

export type SimulationOptions = Readonly<Record<(typeof NUMBERS)[number], number | undefined>> &
  Readonly<Record<'beside' | 'spans', string | undefined>> &
  Readonly<
    Record<'trace' | 'whole' | 'shrink' | 'nightly' | 'redis' | 'slots' | 'dense' | 'once' | 'help', boolean>
  > & {
    readonly world: WorldKind | undefined;
  };

/** @throws an Error that names the option */
export function simulationOptionsOf(args: readonly string[]): SimulationOptions {
  const flag = { type: 'boolean', default: false } as const;
  const text = { type: 'string' } as const;
  const number = text;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ seed: number, count: number, seconds: number, steps: number, faults: number, workers: number },
      ...{ trace: flag, whole: flag, shrink: flag, nightly: flag, redis: flag, dense: flag, once: flag },
      ...{ slots: flag, help: flag, beside: text, spans: text, world: text },
    },
  });
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, numberOf(name, values[name])]));
  if (values.slots && (values.dense || values.faults !== undefined || values.beside !== undefined))
    throw new Error('--slots is for single seeds of one version: dense ones do not coordinate by Redis');
  if (values.redis && (values.dense || values.faults !== undefined))
    throw new Error(
      '--redis is for single seeds: dense ones coordinate by the store in memory or by a Lease',
    );
  if (values.beside !== undefined && (values.shrink || values.faults !== undefined))
    throw new Error(
      '--beside is for single seeds: neither --faults nor a test of --shrink has another version',
    );
  if (
    values.spans !== undefined &&
    (values.count !== undefined || values.faults !== undefined || values.nightly)
  )
    throw new Error('--spans is for a single seed');
  const kinds = Object.keys(WORLD_NAMES);
  if (values.world !== undefined && !kinds.includes(values.world))
    throw new Error(`--world must be one of ${kinds.join(', ')}, and is "${values.world}"`);
  if (values.world !== undefined && (values.dense || values.faults !== undefined))
    throw new Error('--world is for seeds that are not dense: these have Deployments of their own');
  return { ...values, ...numbers } as SimulationOptions;
}

function numberOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new Error(`--${name} must be a whole number from 1 on, and is "${text}"`);
}
