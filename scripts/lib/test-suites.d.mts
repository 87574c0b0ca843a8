export type Suite = 'unit' | 'integration' | 'e2e' | 'nightly';
export type Need = 'redis' | 'build' | 'kubectl' | 'oldKubectl' | 'helm' | 'chromium';

export const SUITES: Readonly<
  Record<
    Suite,
    {
      readonly files: readonly { readonly folder: string; readonly ending: string }[];
      readonly budgetSeconds: number;
      readonly fileBudgetSeconds: number;
    }
  >
>;
export const GATE: readonly Suite[];
export function includeOf(suite: Suite): string[];
export function testFiles(): Record<Suite, string[]>;
export function selectTests(asked: { paths: readonly string[]; suites?: readonly Suite[] }): {
  suites: Suite[];
  files: string[];
};
export function needsOf(files: readonly string[]): Set<Need>;
