/** A device as a selector sees it. Names of attributes and capacities without a domain are the driver's. */
export interface SelectableDevice {
  readonly driver: string;
  readonly attributes: Readonly<
    Record<
      string,
      {
        readonly string?: string;
        readonly int?: number | bigint;
        readonly bool?: boolean;
        readonly version?: string;
      }
    >
  >;
  readonly capacity: Readonly<Record<string, { readonly value: string | number }>>;
  readonly allowMultipleAllocations: boolean;
}

/** Whether a device is selected. @throws Error where the expression fails on it */
export type DeviceSelector = (device: SelectableDevice) => boolean;

/**
 * Compiles a CEL expression that selects devices; called again and again with the same few.
 * @throws Error for an expression that cannot be compiled
 */
export type CompileDeviceSelector = (expression: string) => DeviceSelector;
