import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { waitFor } from '../../../src/testing/wait-for.js';
import type { RunningUp } from './up.js';

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** An orphan counts as a process until the one that adopted it has looked, which may take seconds. */
export function processEnded(pid: number | null | undefined): Promise<true> {
  return waitFor(() => pid != null && !isAlive(pid), { what: `process ${pid} to end` });
}

/** The process ids of everything that `up` has started. */
export async function pidsOf(up: RunningUp): Promise<number[]> {
  const { apiServer, nodes, redis, replicas } = await up.status();
  return [apiServer?.pid, nodes?.pid, redis?.pid, ...replicas.map(({ pid }) => pid)].filter(
    (pid) => pid != null,
  );
}

/** Listens where another process does, as soon as that one is gone. */
export function takePort(url: string): Promise<Server> {
  return waitFor(
    () =>
      new Promise<Server | undefined>((done) => {
        const server = createServer();
        server.once('error', () => done(undefined));
        server.listen(Number(new URL(url).port), '127.0.0.1', () => done(server));
      }),
    { what: `${url} to be free`, intervalMs: 1 },
  );
}
