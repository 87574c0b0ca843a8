import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../../src/testing/wait-for.js';

const PRELOAD = join(import.meta.dirname, 'heap-after-gc.mjs');

/** The heaps of other processes of ours, after a garbage collection. */
export class HeapsAfterGc {
  private readonly folder = mkdtempSync(join(tmpdir(), 'rollkeeper-heaps-'));
  private asked = 0;

  /** The environment of the processes to be measured. */
  get env(): NodeJS.ProcessEnv {
    return { HEAP_DIR: this.folder, NODE_OPTIONS: `--import=${PRELOAD}` };
  }

  /** @returns bytes, in the order of the process ids */
  async of(pids: readonly number[]): Promise<readonly number[]> {
    const word = String(++this.asked);
    writeFileSync(join(this.folder, 'ask'), word);
    return Promise.all(pids.map((pid) => this.answerOf(pid, word)));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async answerOf(pid: number, word: string): Promise<number> {
    const answer = await waitFor(
      () => {
        const [asked, bytes] = this.read(pid).split(' ');
        return asked === word && { bytes: Number(bytes) };
      },
      { timeoutMs: 120_000, intervalMs: 100, what: `the heap of process ${pid}` },
    );
    return answer.bytes;
  }

  private read(pid: number): string {
    try {
      return readFileSync(join(this.folder, String(pid)), 'utf8');
    } catch {
      return '';
    }
  }
}

/** Bytes that Redis uses, without what it has for its connections and for writing its file. */
export function bytesOfRedis(info: string): number {
  const bytesOf = (name: string): number =>
    Number(
      info
        .split('\r\n')
        .find((line) => line.startsWith(`${name}:`))
        ?.slice(name.length + 1),
    );
  return bytesOf('used_memory') - bytesOf('mem_clients_normal') - bytesOf('mem_aof_buffer');
}
