import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HolderWitness, Sighting } from '@rollkeeper/runtime/leader-election';
import { waitFor } from './wait-for.js';

export interface HolderWitnessesUnderTest {
  /** Returns a process's witness; all are in one election. */
  readonly witness: (identity: string) => HolderWitness;
  /** Does what the kernel does when the process dies. */
  readonly kill: (identity: string) => void;
  /** Breaks its connections; it reconnects. */
  readonly breakLinks: (identity: string) => void;
  readonly stop: () => Promise<void>;
}

/** Runs the contract of `HolderWitness` on an implementation. */
export function runHolderWitnessContract(name: string, make: () => Promise<HolderWitnessesUnderTest>): void {
  describe(`${name} keeps the contract of a holder's witness`, () => {
    let subject: HolderWitnessesUnderTest;
    let a: HolderWitness;
    let b: HolderWitness;
    let stop: AbortController;
    const { signal } = new AbortController();
    let running: Promise<void>[];

    beforeEach(async () => {
      subject = await make();
      a = subject.witness('a');
      b = subject.witness('b');
      running = [];
      stop = new AbortController();
    });

    afterEach(async () => {
      stop.abort();
      await Promise.all(running);
      await subject.stop();
    });

    const run = async (witness: HolderWitness): Promise<AbortController> => {
      const over = new AbortController();
      stop.signal.addEventListener('abort', () => over.abort());
      running.push(witness.run(over.signal));
      await waitFor(() => witness.place !== '', { timeoutMs: 10_000, what: 'it to be seen' });
      return over;
    };
    const seen = (sighting: Sighting, place = a.place): Promise<unknown> =>
      waitFor(async () => (await b.look('a', place, signal)) === sighting, {
        timeoutMs: 10_000,
        what: `a to be ${sighting}`,
      });

    it('shows nobody anywhere before it runs', () => {
      expect(a.place).toBe('');
    });

    it('shows a process while its connections stand, and not from the moment on when they close', async () => {
      await run(a);
      const { place } = a;
      await seen('present');
      subject.kill('a');
      await seen('absent', place);
    });

    it('says of somebody who never was there that they are not', async () => {
      await run(a);
      expect(await b.look('nobody', a.place, signal)).toBe('absent');
    });

    it('says nothing of another place than the one that it sees', async () => {
      await run(a);
      expect(await b.look('a', 'elsewhere', signal)).toBe('unknown');
    });

    it('tells a process that it cannot be seen, and shows it again when its connections stand', async () => {
      await run(a);
      let told = 0;
      let placeThen: string | undefined;
      const unsubscribe = a.onHidden(() => {
        told += 1;
        placeThen = a.place;
      });
      subject.breakLinks('a');
      await waitFor(() => told > 0);
      expect(placeThen).toBe('');
      await waitFor(() => a.place !== '', { timeoutMs: 10_000, what: 'it to be seen again' });
      await seen('present');
      unsubscribe();
      const before = told;
      subject.breakLinks('a');
      await waitFor(() => a.place === '', { what: 'it to be hidden again' });
      expect(told).toBe(before);
    });

    it('shows nobody any more where it has stopped', async () => {
      const over = await run(a);
      over.abort();
      await Promise.all(running);
      expect(a.place).toBe('');
    });

    it('looks no longer than it is let', async () => {
      const reason = new Error('enough');
      await expect(a.look('b', 'x', AbortSignal.abort(reason))).rejects.toBe(reason);
    });
  });
}
