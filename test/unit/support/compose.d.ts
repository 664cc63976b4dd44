export interface ComposeService {
    image: string;
    build?: string;
    command?: string[];
    /** Null: as it stands in `.env`. */
    environment?: Record<string, string | number | null>;
    env_file?: string;
    user?: string;
    ports?: string[];
    volumes?: string[];
    networks?: string[];
    depends_on?: Record<string, {
        condition: string;
    }>;
    healthcheck?: {
        test: string[];
    };
    read_only?: boolean;
    cap_drop?: string[];
    security_opt?: string[];
    mem_limit?: string;
    stop_grace_period?: string;
}
interface ComposeFile {
    services: Record<string, ComposeService>;
    volumes: Record<string, unknown>;
    networks: Record<string, {
        internal?: boolean;
    }>;
}
export declare const readTracked: (path: string) => string;
export declare const readYaml: <T>(path: string) => T;
export declare const compose: ComposeFile;
/** Variables that the compose file takes from `.env`, and whether it can do without. */
export declare function interpolated(): Map<string, {
    optional: boolean;
}>;
/** Text of the compose file with its variables filled in. */
export declare const fillIn: (text: string, env: Record<string, string>) => string;
/** `NAME=value` lines; `also` takes those that are commented out, too. */
export declare const parseEnv: (text: string, also?: 'commented' | null) => Record<string, string>;
export {};
