export interface ScoredMember {
  readonly member: string;
  readonly score: number;
}

/** The end of a range of scores or members. Members are compared byte by byte. */
export interface RangeEnd<Value> {
  readonly value: Value;
  readonly isExclusive: boolean;
}

/** Members in the order of their scores, those of one score in the order of their bytes. */
export class SortedSet {
  readonly type = 'zset';
  private readonly scores = new Map<string, number>();
  private readonly ordered: ScoredMember[] = [];

  get size(): number {
    return this.scores.size;
  }

  scoreOf(member: string): number | undefined {
    return this.scores.get(member);
  }

  set(member: string, score: number): void {
    const before = this.scores.get(member);
    if (before === score) return;
    if (before !== undefined) this.ordered.splice(this.placeOf({ member, score: before }), 1);
    this.scores.set(member, score);
    const entry = { member, score };
    this.ordered.splice(this.placeOf(entry), 0, entry);
  }

  delete(member: string): boolean {
    const score = this.scores.get(member);
    if (score === undefined) return false;
    this.scores.delete(member);
    this.ordered.splice(this.placeOf({ member, score }), 1);
    return true;
  }

  rankOf(member: string): number | undefined {
    const score = this.scores.get(member);
    return score === undefined ? undefined : this.placeOf({ member, score });
  }

  entries(from = 0, to: number = this.ordered.length): readonly ScoredMember[] {
    return this.ordered.slice(from, to);
  }

  /** The places `[from, to)` of the members whose scores are in a range. */
  placesByScore(min: RangeEnd<number>, max: RangeEnd<number>): readonly [from: number, to: number] {
    const from = this.firstPlace(({ score }) => (min.isExclusive ? score > min.value : score >= min.value));
    const to = this.firstPlace(({ score }) => (max.isExclusive ? score >= max.value : score > max.value));
    return [from, Math.max(from, to)];
  }

  /** The same by members, of a set whose scores are all the same. `undefined` is no end. */
  placesByLex(
    min: RangeEnd<string> | undefined,
    max: RangeEnd<string> | undefined,
  ): readonly [from: number, to: number] {
    const from = min
      ? this.firstPlace(({ member }) => (min.isExclusive ? member > min.value : member >= min.value))
      : 0;
    const to = max
      ? this.firstPlace(({ member }) => (max.isExclusive ? member >= max.value : member > max.value))
      : this.ordered.length;
    return [from, Math.max(from, to)];
  }

  clone(): SortedSet {
    const copy = new SortedSet();
    for (const { member, score } of this.ordered) {
      copy.scores.set(member, score);
      copy.ordered.push({ member, score });
    }
    return copy;
  }

  private placeOf({ member, score }: ScoredMember): number {
    return this.firstPlace(
      (other) => other.score > score || (other.score === score && other.member >= member),
    );
  }

  /** The first place for which the condition holds; it holds for all that follow. */
  private firstPlace(holds: (entry: ScoredMember) => boolean): number {
    let [from, to] = [0, this.ordered.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const entry = this.ordered[middle];
      if (entry && holds(entry)) to = middle;
      else from = middle + 1;
    }
    return from;
  }
}
