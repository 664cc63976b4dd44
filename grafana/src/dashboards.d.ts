/** Every dashboard: the name of its file and its text. */
export declare const dashboardFiles: {
    name: string;
    text: string;
}[];
