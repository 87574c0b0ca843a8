/**
 * The common knowledge of the recorders of an installation: the Event that each series of equal events is written to,
 * and how many similar ones there are. Recorders without one count for themselves, so that equal events of two
 * processes are two Events.
 */
export interface EventLedger {
  /**
   * Names the Event of a series. The name that was proposed first holds for as long as the series is remembered: some
   * thousand others may follow its last use.
   * @param series identifies the series, of any length
   * @param within its group, to which it is added if it is new @default it is not counted
   */
  nameOf(series: string, proposed: string, within?: SimilarGroup): Promise<SeriesName>;
  /**
   * Makes a series one of the combined ones of its group. Its name is forgotten, and {@link nameOf} answers `combined`.
   * @param series identifies the series, of any length
   */
  combine(series: string): Promise<void>;
}

/** Similar series, which are counted. The count begins again when none is added for some time. */
export interface SimilarGroup {
  /** Identifies it, of any length. */
  readonly group: string;
  readonly forgottenAfterMs: number;
}

/** `combined`: every recorder writes the series to the Event of its group. */
export type SeriesName = OwnSeriesName | 'combined';

interface OwnSeriesName {
  readonly name: string;
  /** No other recorder had named the series. */
  readonly isNew: boolean;
  /** The series of its group so far, this one included; 0 unless it is new and was to be counted. */
  readonly similar: number;
}
