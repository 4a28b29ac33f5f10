/** Style sheets are imported for their effect alone; the build puts them into one file. */
declare module '*.css';
