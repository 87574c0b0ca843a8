import type { Suite } from './test-suites.mjs';

export interface TestReport {
  readonly suites: readonly { readonly suite: Suite; readonly wallMs: number }[];
  readonly files: readonly {
    readonly file: string;
    readonly suite: Suite;
    readonly ms: number;
    readonly passed: number;
    readonly failed: number;
    readonly skipped: readonly string[];
  }[];
  readonly unhandledErrors: number;
}

export function summaryOf(
  report: TestReport | undefined,
  options?: { readonly namesSkipped?: boolean },
): { readonly lines: string[]; readonly passed: number; readonly failed: number };
