import { X509Certificate, createPrivateKey } from 'node:crypto';
import fileSystem, { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureSigningKeyFile, ensureTokenFile } from '../access/auth/index.js';
import { replaceFunctions } from '../../testing/replace-functions.js';
import { ensureTlsFiles } from './tls-files.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const YEARS_LATER = NOW + 20 * 365 * 86_400_000;

/** The step at which the process ends, counted from 0; every later one does nothing either. */
let endsAt = Number.POSITIVE_INFINITY;
let steps = 0;

function isOver(): boolean {
  return steps++ >= endsAt;
}

// A process that is killed leaves what it had done: of a file under way, an empty one.
const real = { ...fileSystem };
const killed = async (): Promise<never> => Promise.reject(new Error('killed'));
const restore = replaceFunctions(fileSystem, {
  writeFile: async (...[path, content, options]: Parameters<typeof real.writeFile>) => {
    if (isOver()) return killed();
    await real.writeFile(path, '', options);
    return isOver() ? killed() : real.writeFile(path, content, { flush: true });
  },
  rename: async (from, to) => (isOver() ? killed() : real.rename(from, to)),
  rm: async (path, options) => (isOver() ? killed() : real.rm(path, options)),
});
afterAll(restore);

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rollkeeper-interrupted-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function start(nowMs: number, step = Number.POSITIVE_INFINITY) {
  steps = 0;
  endsAt = step;
  try {
    const token = await ensureTokenFile(join(dir, 'token'));
    const tls = await ensureTlsFiles({ dir, nowMs });
    const { privateKey } = await ensureSigningKeyFile(join(dir, 'service-account.key'));
    return { token, tls, privateKey };
  } finally {
    endsAt = Number.POSITIVE_INFINITY;
  }
}

/** How many steps a start takes that nothing interrupts. */
async function stepsOf(nowMs: number): Promise<number> {
  await start(nowMs);
  return steps;
}

describe('an API server that was killed while it made its credentials', () => {
  it('starts the next time, wherever that was', async () => {
    const all = await stepsOf(NOW);
    expect(all).toBeGreaterThan(5);
    for (let step = 0; step < all; step++) {
      await rm(dir, { recursive: true });
      dir = await mkdtemp(join(tmpdir(), 'rollkeeper-interrupted-'));
      await expect(start(NOW, step), `step ${step}`).rejects.toThrow('killed');
      await expectWhole(NOW);
    }
  });

  it('starts the next time where it was replacing certificates that had come to their end', async () => {
    await start(NOW);
    const all = await stepsOf(YEARS_LATER);
    expect(all).toBeGreaterThan(5);
    for (let step = 0; step < all; step++) {
      await rm(dir, { recursive: true });
      dir = await mkdtemp(join(tmpdir(), 'rollkeeper-interrupted-'));
      const { token } = await start(NOW);
      await expect(start(YEARS_LATER, step), `step ${step}`).rejects.toThrow('killed');
      expect((await expectWhole(YEARS_LATER)).token).toBe(token);
    }
  });
});

async function expectWhole(nowMs: number) {
  const made = await start(nowMs);
  const { ca, cert, key } = made.tls;
  expect(made.token).toMatch(/^\S{40,}$/);
  expect(new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect(new X509Certificate(cert).verify(new X509Certificate(ca).publicKey)).toBe(true);
  expect(made.privateKey.asymmetricKeyType).toBe('ec');
  return made;
}
