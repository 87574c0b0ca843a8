import { MAX_INT32 } from '../../kubernetes/int32.js';

/** A number of pods, or a share of `spec.replicas`. */
export type PodCount = { readonly pods: number } | { readonly percent: number };

/** `3`, `20%`; `undefined` for anything else, or for more than 100 %. */
export function parsePodCount(text: string): PodCount | undefined {
  const [, digits = '', sign] = /^(\d{1,10})(%?)$/.exec(text) ?? [];
  if (digits === '') return undefined;
  const value = Number(digits);
  if (sign === '%') return value <= 100 ? { percent: value } : undefined;
  return value <= MAX_INT32 ? { pods: value } : undefined;
}

/** The number of pods that a count stands for: a share is rounded up, and neither is more than all. 20 % of 7 are 2. */
export function resolvePodCount(count: PodCount, replicas: number): number {
  const pods = 'pods' in count ? count.pods : Math.ceil((count.percent * replicas) / 100);
  return Math.min(pods, replicas);
}

export function renderPodCount(count: PodCount): string {
  return 'pods' in count ? String(count.pods) : `${count.percent}%`;
}
