/**
 * A line of the journal that the preload writes; times are milliseconds of CLOCK_MONOTONIC. `g` is the epoch in which an
 * activation began, where only leaders work.
 */
export type JournalLine = { readonly t: number; readonly p: number; readonly g?: number } & (
  | {
      readonly e: 'begin' | 'end';
      readonly c: string;
      readonly k: string;
      readonly n: number;
      error?: string;
    }
  | {
      readonly e: 'write' | 'wrote';
      readonly c: string;
      readonly k: string;
      readonly n: number;
      readonly m: string;
      readonly u: string;
      readonly s?: number;
    }
  | { readonly e: 'lead' | 'unlead'; readonly n: number }
  | { readonly e: 'enqueued' | 'refused'; readonly n: number; readonly c: string; readonly k: string }
);
