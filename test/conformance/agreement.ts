/** Counts in how many answers two servers agree, part by part, in all and by kind. */
export class Agreement<Part extends string> {
  private readonly all = new Map<Part, Count>();
  private readonly byKind = new Map<string, Map<Part, Count>>();

  constructor(private readonly parts: readonly Part[]) {}

  add(kind: string, compared: readonly Part[], differing: Readonly<Partial<Record<Part, unknown>>>): void {
    const ofKind = this.byKind.get(kind) ?? new Map<Part, Count>();
    this.byKind.set(kind, ofKind);
    for (const part of compared)
      for (const counts of [this.all, ofKind]) {
        const { of, same } = counts.get(part) ?? { of: 0, same: 0 };
        counts.set(part, { of: of + 1, same: same + (differing[part] === undefined ? 1 : 0) });
      }
  }

  /** How many of the answers agree in a part; 1 where none could be compared. */
  share(part: Part): number {
    const { of, same } = this.all.get(part) ?? { of: 0, same: 0 };
    return of === 0 ? 1 : same / of;
  }

  /** A line for all, and one for each kind. */
  lines(): string[] {
    const kinds = [...this.byKind].sort(([a], [b]) => (a < b ? -1 : 1));
    return [
      `all: ${this.describe(this.all)}`,
      ...kinds.map(([kind, counts]) => `${kind}: ${this.describe(counts)}`),
    ];
  }

  private describe(counts: ReadonlyMap<Part, Count>): string {
    const told = this.parts.flatMap((part) => {
      const count = counts.get(part);
      return count ? [`${part} ${count.same}/${count.of} (${percent(count)})`] : [];
    });
    return told.join(', ');
  }
}

interface Count {
  readonly of: number;
  readonly same: number;
}

function percent({ of, same }: Count): string {
  return `${((100 * same) / of).toFixed(1)} %`;
}
