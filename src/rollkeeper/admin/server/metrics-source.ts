/** The metrics that `/metrics` shows; a class, so that it is its own injection token. */
export abstract class MetricsSource {
  /** In Prometheus' text format. */
  abstract serialize(): Promise<string>;
}
