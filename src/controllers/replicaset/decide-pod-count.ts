/** How many pods one sync creates or deletes; never both. */
export interface PodCountDecision {
  readonly create: number;
  readonly delete: number;
}

/** The step from `active` pods towards `desired`, at most `burst` at once. */
export function decidePodCount(input: {
  readonly active: number;
  readonly desired: number;
  readonly burst: number;
}): PodCountDecision {
  const missing = input.desired - input.active;
  return {
    create: Math.min(Math.max(missing, 0), input.burst),
    delete: Math.min(Math.max(-missing, 0), input.burst),
  };
}
