import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClusterClaims } from '@rollkeeper/runtime/operator/coordination';

interface ClusterClaimsUnderTest {
  /** The claims of two replicas of one installation. */
  readonly replicas: readonly [ClusterClaims, ClusterClaims];
  readonly stop: () => Promise<void>;
}

/** Runs the contract of `ClusterClaims` on an implementation. */
export function runClusterClaimsContract(name: string, make: () => Promise<ClusterClaimsUnderTest>): void {
  describe(`${name} keeps the contract of the claims of clusters`, () => {
    const { signal } = new AbortController();
    let subject: ClusterClaimsUnderTest;
    let a: ClusterClaims;
    let b: ClusterClaims;
    beforeEach(async () => {
      subject = await make();
      [a, b] = subject.replicas;
    });
    afterEach(() => subject.stop());

    it('gives keys that are nobody’s to the first cluster that claims them', async () => {
      expect(await a.owner()).toBeUndefined();
      expect(await a.claim('one')).toBe('one');
      expect(await b.owner()).toBe('one');
    });

    it('lets a cluster claim its own again, and tells another whose they are', async () => {
      await a.claim('one');
      expect(await b.claim('one')).toBe('one');
      expect(await b.claim('two')).toBe('one');
      expect(await a.owner()).toBe('one');
    });

    it('gives them to one of two clusters that claim them at once', async () => {
      const [first, second] = await Promise.all([a.claim('one'), b.claim('two')]);
      expect(first).toBe(second);
    });

    it('makes the keys of a former cluster those of another, for all its replicas', async () => {
      await a.claim('one');
      const both = await Promise.all([a.replace('one', 'two', signal), b.replace('one', 'two', signal)]);
      expect(both).toEqual(['two', 'two']);
      expect(await a.claim('one')).toBe('two');
    });

    it('replaces no cluster but the one that was named', async () => {
      await a.claim('one');
      expect(await b.replace('other', 'two', signal)).toBe('one');
      expect(await a.owner()).toBe('one');
    });

    it('claims keys that are nobody’s in place of replacing', async () => {
      expect(await a.replace('gone', 'two', signal)).toBe('two');
      expect(await b.owner()).toBe('two');
    });
  });
}
