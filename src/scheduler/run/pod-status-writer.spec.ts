import { beforeEach, describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../client/api-client/index.js';
import type { ApiClient } from '../../client/api-client/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { aPod } from '../../testing/pod-builder.js';
import { PodStatusWriter } from './pod-status-writer.js';

const never = new AbortController().signal;
const refusal = (message: string) => ({ refusal: { reason: 'Unschedulable' as const, message } });
const waiting = aPod({ name: 'p', phase: 'Pending' });

let clock: FakeClock;
let written: unknown[];
let failures: Error[];
let writer: PodStatusWriter;

beforeEach(() => {
  clock = new FakeClock();
  written = [];
  failures = [];
  const client = {
    patch: (_type: unknown, _ref: unknown, { body }: { body: { status: unknown } }) => {
      const failure = failures.shift();
      if (failure) return Promise.reject(failure);
      written.push(body.status);
      return Promise.resolve({});
    },
  } as unknown as ApiClient;
  writer = new PodStatusWriter({ client, clock, logger: silentLogger });
});

describe('the status of a pod', () => {
  it('says why it waits, and where it is to go', async () => {
    writer.write(waiting, { ...refusal('no room'), nomination: { node: 'a' } }, never);
    await clock.advance(0);
    expect(written).toMatchObject([
      {
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' }],
        nominatedNodeName: 'a',
      },
    ]);
  });

  it('is not written where it says so already', async () => {
    const condition = { type: 'PodScheduled', status: 'False', ...refusal('no room').refusal } as const;
    const told = { ...waiting, status: { ...waiting.status, conditions: [condition] } };
    writer.write(told, refusal('no room'), never);
    writer.write(told, { nomination: { node: undefined } }, never);
    await clock.advance(0);
    expect(written).toEqual([]);
  });

  it('is written again after a failure, with a pause', async () => {
    failures.push(new ApiStatusError({ code: 500 }));
    writer.write(waiting, refusal('no room'), never);
    await clock.advance(249);
    expect(written).toEqual([]);
    await clock.advance(1);
    expect(written).toHaveLength(1);
  });

  it('is the latest, where writing takes its time', async () => {
    failures.push(new ApiStatusError({ code: 500 }));
    writer.write(waiting, refusal('one'), never);
    await clock.advance(0);
    writer.write(waiting, refusal('two'), never);
    writer.write(waiting, refusal('three'), never);
    await clock.advance(1000);
    expect(written).toMatchObject([{ conditions: [{ message: 'three' }] }]);
  });

  it('is of no interest any more once the pod is gone', async () => {
    failures.push(new ApiStatusError({ code: 404 }));
    writer.write(waiting, refusal('no room'), never);
    await clock.advance(60_000);
    await writer.idle();
    expect(written).toEqual([]);
  });
});
