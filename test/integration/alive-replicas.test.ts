import { afterEach, describe, expect, it } from 'vitest';
import { aliveReplicas } from '../../src/rollkeeper/cli/alive-replicas.js';
import type { Fault } from '../support/faulty-port.js';
import { FaultyPort } from '../support/faulty-port.js';

describe('the replicas that are asked', () => {
  let ports: FaultyPort[] = [];
  afterEach(async () => {
    await Promise.all(ports.map((port) => port.stop()));
    ports = [];
  });

  const replica = async (fault: Fault) => {
    const port = await FaultyPort.start(fault);
    ports.push(port);
    return { url: port.url, trust: { by: 'nothing' } } as const;
  };

  it('are those that answer, of any status, and not one that hangs before them', async () => {
    const [hung, closed, answering] = [
      await replica('accepts and never answers'),
      await replica('nothing listens'),
      await replica('answers 503'),
    ];
    expect(await aliveReplicas([hung, closed, answering])).toEqual({ alive: [answering], problems: [] });
  });

  it('are none where all hang or are closed, each with its reason', async () => {
    const [hung, closed] = [await replica('accepts and never answers'), await replica('nothing listens')];
    const { alive, problems } = await aliveReplicas([hung, closed]);
    expect(alive).toEqual([]);
    expect(problems).toEqual([
      `${hung.url}: nothing came for 1 s`,
      expect.stringMatching(/^http.*: .*ECONNREFUSED/),
    ]);
    expect(await aliveReplicas([])).toEqual({ alive: [], problems: [] });
  });
});
