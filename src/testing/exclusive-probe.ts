/** Throws if one key is entered twice at the same time. */
export class ExclusiveProbe {
  private readonly inside = new Set<string>();

  async enter(key: string, work: () => Promise<void>): Promise<void> {
    if (this.inside.has(key)) throw new Error(`${key} is worked on twice at the same time`);
    this.inside.add(key);
    try {
      await work();
    } finally {
      this.inside.delete(key);
    }
  }
}

/** A promise that a test resolves manually. */
export function gate(): { readonly passed: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}
