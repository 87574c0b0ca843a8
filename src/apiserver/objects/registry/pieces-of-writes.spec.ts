import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '@rollkeeper/machinery/clock';
import { LongWork, SeededRandom, SystemClock } from '@rollkeeper/machinery/clock';
import { cloneJson } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { Admission } from '../../access/admission/index.js';
import { createSigningKey, ServiceAccountTokens } from '../../access/auth/index.js';
import { decodeApplied, decodeBody } from '../../http/decoding/index.js';
import { createKindRegistry } from '../../kinds/index.js';
import { createSchemaRegistry } from '../../schema/index.js';
import { SharedEvents } from './shared-events.js';
import { FollowedResources, MemoryStorage } from '../../storage/index.js';
import { applyObject } from './apply-object.js';
import { createObject } from './create-object.js';
import type { RegistryContext } from './registry-context.js';
import { updateObject } from './update-object.js';

const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: 'b' } };
const MANAGER = { name: 'm', operation: 'Update', apiVersion: 'v1', subresource: '' } as const;

/** A clock on which each piece of work takes long, or none takes any time. */
function clockWithPiecesOf(ms: number): Clock {
  const clock = new SystemClock();
  let now = 0;
  clock.monotonicNow = () => (now += ms);
  return clock;
}

async function contextWith(clock: Clock): Promise<RegistryContext> {
  const kinds = createKindRegistry();
  const schemas = createSchemaRegistry();
  const followed = new FollowedResources(new MemoryStorage({ clock }), { clock, logger: silentLogger });
  const { storage } = followed;
  const common = { storage, kinds, schemas, clock, random: new SeededRandom(1), logger: silentLogger };
  const admission = new Admission({
    ...common,
    followed,
    access: { decide: () => ({ allowed: false, reason: '' }) },
    converter: { inFormOf: (_wanted, _own, object) => Promise.resolve(object) },
  });
  const tokens = new ServiceAccountTokens(createSigningKey(), storage, clock);
  const context = { ...common, admission, events: new SharedEvents(), tokens };
  await followed.load();
  await createObject(
    context,
    { kind: kinds.find('', 'v1', 'namespaces')!, namespace: '' },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } },
    { dryRun: false },
  );
  return context;
}

/** The turns of the event loop that pass while the work is done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    if (isDone) return;
    turns++;
    setImmediate(count);
  };
  setImmediate(count);
  await work();
  isDone = true;
  return turns;
}

const kindOf = ({ kinds }: RegistryContext) => kinds.find('', 'v1', 'configmaps')!;
const typeOf = (context: RegistryContext) => ({
  schemas: context.schemas,
  schema: kindOf(context).schema,
  kind: kindOf(context).type,
  fieldValidation: 'Warn' as const,
});
const BODY = Buffer.from(JSON.stringify(CONFIG_MAP));

const WRITES: Readonly<Record<string, (context: RegistryContext) => Promise<unknown>>> = {
  'reading an object': (context) =>
    decodeBody(BODY, {
      ...typeOf(context),
      contentType: 'application/json',
      work: new LongWork(context.clock),
    }),
  'reading a configuration': (context) =>
    decodeApplied(BODY, { ...typeOf(context), work: new LongWork(context.clock) }),
  'a creation': (context) =>
    createObject(
      context,
      { kind: kindOf(context), namespace: 'n' },
      cloneJson<UnstructuredObject>(CONFIG_MAP),
      {
        ...{ dryRun: true, manager: MANAGER },
      },
    ),
  'an update': (context) =>
    updateObject(
      context,
      { kind: kindOf(context), namespace: 'n', name: 'there' },
      (current) => ({ ...cloneJson<UnstructuredObject>(current), data: { other: 'x' } }),
      { subresource: '', dryRun: true, manager: MANAGER },
    ),
  'an apply that creates': (context) => apply(context, 'new'),
  'an apply that changes': (context) => apply(context, 'there'),
};

function apply(context: RegistryContext, name: string): Promise<unknown> {
  const config = { ...CONFIG_MAP, metadata: { name } };
  return applyObject(context, { kind: kindOf(context), namespace: 'n', name }, config, {
    ...{ manager: { ...MANAGER, operation: 'Apply' }, force: true, dryRun: true, subresource: '' },
    complete: (merged) => merged as UnstructuredObject,
  });
}

describe.each(Object.entries(WRITES))('%s', (_name, write) => {
  const turnsWithPiecesOf = async (ms: number): Promise<number> => {
    const context = await contextWith(clockWithPiecesOf(ms));
    const there = { ...cloneJson<UnstructuredObject>(CONFIG_MAP), metadata: { name: 'there' } };
    await createObject(context, { kind: kindOf(context), namespace: 'n' }, there, {
      ...{ dryRun: false, manager: MANAGER },
    });
    return turnsDuring(() => write(context));
  };

  let atOnce = 0;
  beforeEach(async () => {
    atOnce = await turnsWithPiecesOf(0);
  });

  it('lets others run between its pieces if they take long', async () => {
    expect(await turnsWithPiecesOf(1000)).toBeGreaterThanOrEqual(atOnce + 2);
  });
});
