import { aborted } from '@rollkeeper/machinery/cancellation';
import type { HolderWitness, Sighting } from '@rollkeeper/runtime/leader-election';

/** A server that sees processes while their connections are open. */
export class MemoryPresence {
  private runs = 1;
  private readonly present = new Map<string, MemoryHolderWitness>();

  get runId(): string {
    return `run-${this.runs}`;
  }

  show(witness: MemoryHolderWitness): void {
    this.present.set(witness.identity, witness);
  }

  hide(identity: string): void {
    this.present.delete(identity);
  }

  isPresent(identity: string): boolean {
    return this.present.has(identity);
  }

  /** All connections break at once, and the server is a new one afterwards. */
  restart(): void {
    this.runs += 1;
    for (const witness of [...this.present.values()]) witness.breakLink();
  }
}

/** One process's side of a {@link MemoryPresence}. */
export class MemoryHolderWitness implements HolderWitness {
  place = '';
  /** Number of answered looks. */
  looks = 0;
  private readonly tells = new Set<() => void>();

  constructor(
    readonly identity: string,
    private readonly presence: MemoryPresence,
    /** Runs a callback of the process: later, if it is paused. */
    private readonly deliver: (callback: () => void) => void = (callback) => callback(),
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    this.join();
    await aborted(signal);
    this.presence.hide(this.identity);
    this.place = '';
  }

  async look(identity: string, place: string, signal: AbortSignal): Promise<Sighting> {
    signal.throwIfAborted();
    this.looks += 1;
    if (place !== this.presence.runId) return 'unknown';
    return this.presence.isPresent(identity) ? 'present' : 'absent';
  }

  onHidden(tell: () => void): () => void {
    this.tells.add(tell);
    return () => this.tells.delete(tell);
  }

  /** The server sees it at once, the process as soon as it runs. */
  breakLink(): void {
    this.presence.hide(this.identity);
    this.deliver(() => {
      this.place = '';
      for (const tell of [...this.tells]) tell();
    });
  }

  join(): void {
    this.presence.show(this);
    this.deliver(() => {
      if (this.presence.isPresent(this.identity)) this.place = this.presence.runId;
    });
  }
}
