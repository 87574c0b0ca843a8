import { describe, expect, it } from 'vitest';
import type { ReplicaStatus } from '../../admin/server/index.js';
import { decideSlots } from './decide-slots.js';
import { answered, notAsked } from './finding.js';

function said(...slots: readonly ReplicaStatus['slots'][]): readonly string[] {
  const replicas = slots.map((each, index) => ({
    ...{ identity: `r${index}`, adminUrl: '', pid: 1, startedAtMs: 0, reachable: true, leader: index === 0 },
    ...{ controllers: [], running: [], ...(each && { slots: each }) },
  }));
  const snapshot = { epoch: 1, store: { name: 'redis', answers: true }, replicas };
  return decideSlots(answered(snapshot)).map(({ level, summary }) => `${level}: ${summary}`);
}

const held = { count: 8, owned: 2, standby: 2 };

describe('findings about slots', () => {
  it('are none where there are no slots, or no replica is asked', () => {
    expect(said(undefined, undefined)).toEqual([]);
    expect(decideSlots(notAsked('no replica is known'))).toEqual([]);
  });

  it('are how many there are, where all is well', () => {
    expect(said({ ...held, unowned: 0 }, held, held, held)).toEqual([
      'ok: 4 replicas share 8 slots, and each slot has an owner',
    ]);
  });

  it('name slots without an owner, as the leader counts them', () => {
    expect(said(held, { ...held, unowned: 3 }, held, held)).toEqual([
      'failure: no replica works on 3 of 8 slots, so changes in their namespaces are not seen',
    ]);
  });

  it('warn where so few replicas share them that slots only cost', () => {
    expect(said({ ...held, unowned: 0 }, held, held)[0]).toBe(
      'warning: 3 replicas share 8 slots: each holds more than half of the objects',
    );
  });
});
