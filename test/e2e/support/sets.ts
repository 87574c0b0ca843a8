export interface SharedSet {
  readonly replicas: number;
  /** More arguments of every replica. */
  readonly controllerArgs?: readonly string[];
  /** One test file at a time has it, and may kill and suspend its processes. */
  readonly isExclusive: boolean;
}

/**
 * The sets of processes that test files share, each started when the first file asks for it: a start takes more of the machine than
 * most tests. A file works in namespaces of its own.
 */
export const SHARED_SETS = {
  /** As `npm start` has it. Its processes are left alone. */
  ordinary: { replicas: 3, isExclusive: false },
  killable: { replicas: 3, isExclusive: true },
  /** The lease is in the API, the leader alone works, and the admin ports can be reached from elsewhere. */
  leases: {
    replicas: 2,
    isExclusive: true,
    controllerArgs: [
      ...['--admin-host', '0.0.0.0'],
      ...['--leader-elect-resource-lock', 'leases', '--reconcile-on', 'leader'],
    ],
  },
} as const satisfies Record<string, SharedSet>;

export type SharedSetName = keyof typeof SHARED_SETS;

/** A set as a test file gets it. */
export interface TakenSet {
  readonly pid: number;
  readonly dataDir: string;
}

/** The requests of a test file to the keeper, as `POST /VERB/NAME`. */
export type KeeperVerb = 'take' | 'give' | 'printed';
