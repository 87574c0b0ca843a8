import type { HostRule } from './check-hosts.js';
import type { CheckVerdict } from './check-verdict.js';
import type { HttpSender } from './http-sender.js';

export interface RolloutChecksOptions {
  /** Where requests may go. @default nowhere, so that Jobs alone can be checks */
  readonly hosts?: readonly HostRule[];
  /** What requests to webhooks are signed with. @default they are not signed */
  readonly keyFile?: string;
  /** Sends the requests. @default over HTTP, to {@link hosts} alone */
  readonly sender?: HttpSender;
  /** Hears of each measurement that has been recorded. */
  readonly onMeasured?: (about: { readonly kind: string; readonly verdict: CheckVerdict }) => void;
}
