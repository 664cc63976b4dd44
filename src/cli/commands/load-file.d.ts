import { type OperatorClient } from '../client.js';
import { type Io } from '../terminal.js';
export interface LoadFileDependencies {
    client: OperatorClient;
    json: boolean;
    io: Io;
    /** Writes an error's text. */
    say(text: string): Promise<void>;
}
/**
 * `event load`: reports each bad line and each refused event as it comes, then the counts. With `json` one
 * document goes out while the file is read: `{results: [{line, eventId} or {line, error}], read, recorded, refused}`.
 * Answers the exit code: 1 if any line was refused.
 */
export declare function loadFile(file: string, { client, json, io, say }: LoadFileDependencies): Promise<number>;
