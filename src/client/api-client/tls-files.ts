import { readFileSync } from 'node:fs';
import type { Clock } from '@rollkeeper/machinery/clock';
import { InvalidOptionError, errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { TlsMaterial } from './cluster-connection.js';

const PARTS = ['ca', 'cert', 'key'] as const;

type Pem = (typeof PARTS)[number];

/** Where one part of TLS's material comes from: bytes that stay, or a file that somebody may rotate. */
export type PemSource = { readonly data: Buffer } | { readonly path: string };

export interface TlsFilesOptions {
  readonly sources: Readonly<Partial<Record<Pem, PemSource>>>;
  /** What a part is called in errors. */
  readonly names: Readonly<Record<Pem, string>>;
  /** What does not come from files. */
  readonly fixed: Pick<TlsMaterial, 'serverName' | 'insecureSkipVerify'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Files are looked at again after this long. */
const MAX_AGE_MS = 10_000;

/** TLS's material from files that are read again now and then: certificates of short life are rotated under our feet. */
export class TlsFiles {
  private material: TlsMaterial;
  private lookedAtMs: number;

  /** @throws InvalidOptionError naming the file, where one cannot be read */
  constructor(private readonly options: TlsFilesOptions) {
    this.lookedAtMs = options.clock.monotonicNow();
    this.material = this.read();
  }

  /** The same object until something has changed. */
  get current(): TlsMaterial {
    const nowMs = this.options.clock.monotonicNow();
    if (nowMs - this.lookedAtMs >= MAX_AGE_MS) {
      this.lookedAtMs = nowMs;
      this.lookAgain();
    }
    return this.material;
  }

  /** What cannot be read, or is only half written, costs nothing while the last may still be good. */
  private lookAgain(): void {
    const { sources } = this.options;
    if (!PARTS.some((part) => sources[part] && 'path' in sources[part])) return;
    try {
      const read = this.read();
      if (!isSame(read, this.material)) this.material = read;
    } catch (error) {
      this.options.logger.warn('certificates could not be read again', { reason: errorMessage(error) });
    }
  }

  private read(): TlsMaterial {
    return { ...this.options.fixed, ca: this.pem('ca'), cert: this.pem('cert'), key: this.pem('key') };
  }

  private pem(part: Pem): Buffer | undefined {
    const source = this.options.sources[part];
    if (!source) return undefined;
    if ('data' in source) return source.data;
    try {
      return readFileSync(source.path);
    } catch (error) {
      throw new InvalidOptionError(this.options.names[part], errorMessage(error), { cause: error });
    }
  }
}

function isSame(a: TlsMaterial, b: TlsMaterial): boolean {
  return PARTS.every((part) => String(a[part] ?? '') === String(b[part] ?? ''));
}
