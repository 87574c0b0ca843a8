import type { CheckVerdict } from '@rollkeeper/controllers/deployment';

export interface CheckResult {
  /** `prometheus`, `webhook` or `job`. */
  readonly kind: string;
  readonly verdict: CheckVerdict;
}

/** From the controllers, which are made before there are metrics, to those. */
export class CheckResultFeed {
  private listener: ((result: CheckResult) => void) | undefined;

  listen(listener: (result: CheckResult) => void): void {
    this.listener = listener;
  }

  tell(result: CheckResult): void {
    this.listener?.(result);
  }
}
