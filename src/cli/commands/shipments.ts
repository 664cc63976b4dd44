import type { Command } from 'commander';
import { confirm, yesOption } from '../confirm.js';
import { idArgument } from '../options.js';
import { example, type Request } from '../request.js';
import type { Io } from '../terminal.js';

const erasureTimeoutMs = 30_000;

/** Adds the commands for single shipments. */
export function addShipmentCommands(program: Command, io: Io, request: Request): void {
  const shipment = program.command('shipment').description('single shipments');
  shipment
    .command('erase')
    .description("erase a shipment's personal data: for good; what is still owed of it is not sent any more")
    .requiredOption('--tracking-id <id>', 'tracking id of the shipment', idArgument)
    .option(...yesOption)
    .addHelpText('after', example('shipment erase --tracking-id PH123'))
    .action(
      request(async (client, { trackingId, yes }: { trackingId: string; yes?: true }) => {
        await confirm(io, `Erase the personal data of shipment ${trackingId} for good?`, yes);
        return client.post(`/operator/v1/shipments/${encodeURIComponent(trackingId)}/erase`, '{}', {
          repeatable: true,
          timeoutMs: erasureTimeoutMs,
        });
      }),
    );
}
