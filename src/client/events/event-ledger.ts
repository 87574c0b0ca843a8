/**
 * What the recorders of an installation know in common: the Event that each series of equal events is written to.
 * Recorders without one count for themselves, so that equal events of two processes are two Events.
 */
export interface EventLedger {
  /**
   * Names the Event of a series. The name that was proposed first holds for as long as Events are usually kept.
   * @param series identifies the series, of any length
   */
  nameOf(series: string, proposed: string): Promise<string>;
}
